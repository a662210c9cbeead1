#!/usr/bin/env bash
# Runs every Slurm script of docs with stand-ins for the commands of Slurm: srun starts the program with
# mpirun if there is one, GPUs become processors, and the run is short. The script that requeues its job is
# interrupted once.
# usage: slurm_scripts.sh TARN [MPIEXEC]
set -euo pipefail
tarn=$(realpath "$1")
launcher=${2:+"$2 -n 2"}
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
status=0
fail() {
  printf '%s\n' "$*" >&2
  status=1
}

# The options of sbatch and srun that the scripts may use.
known='^--(nodes|ntasks|ntasks-per-node|cpus-per-task|gpus-per-node|time|requeue|signal|array|kill-on-bad-exit)(=[^ =]+)?$'

mkdir "$box/bin" "$box/job"
cat >"$box/bin/tarn" <<FAKE
#!/usr/bin/env bash
echo \$\$ >>processes
exec "$tarn" "\${@/#cuda*/cpu}"
FAKE
cat >"$box/bin/srun" <<FAKE
#!/usr/bin/env bash
while [[ \$1 == --* ]]; do
  [[ \$1 =~ $known ]] || { echo "srun: unknown option \$1" >&2; exit 1; }
  shift
done
$launcher "\$@" &
job=\$!
if [[ -e interrupt ]]; then  # after the first checkpoint
  rm interrupt
  while kill -0 \$job && [[ ! -e \$SLURM_SUBMIT_DIR/out/checkpoint.bin ]]; do sleep 0.02; done
  kill -USR1 \$(<processes)
fi
wait \$job
FAKE
cat >"$box/bin/scontrol" <<FAKE
#!/usr/bin/env bash
[[ "\$*" == "requeue 12" ]] && touch requeued
FAKE
chmod +x "$box"/bin/*

cat >"$box/job/droplet.toml" <<'DECK'
[system]
molecules = 7
replicas = 32
[integrator]
scheme = "zss-stiff"
[thermostat]
kind = "gla"
temperature_K = 200.0
friction_per_ps = 5.0
[run]
steps = 1000
[observe.energies]
every = 100
replicas = "mean"
[checkpoint]
every = 1000
DECK

export PATH=$box/bin:$PATH SLURM_SUBMIT_DIR=$box/job SLURM_JOB_ID=12 SLURM_ARRAY_TASK_ID=3
export SLURM_CPUS_PER_TASK=1 CUDA_VISIBLE_DEVICES=-1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

awk -v out="$box/script-" '
  /^```sh *$/ { text = ""; inside = 1; next }
  /^```/ { if (inside && text ~ /#SBATCH/) { n++; printf "%s", text > (out n) }; inside = 0 }
  inside { text = text $0 "\n" }' docs/clusters.md docs/running.md
cd "$box/job"
scripts=0 requeues=0
for script in "$box"/script-*; do
  scripts=$((scripts + 1))
  name="script $(grep -m 1 '#SBATCH' "$script")"
  [[ $(head -n 1 "$script") == '#!/bin/'* ]] || fail "$name: the first line names no shell"
  # sbatch reads options only before the first command.
  sed -n '/^[^#]/,$ p' "$script" | grep -q '#SBATCH' && fail "$name: options after the first command"
  for option in $(sed -n 's/^#SBATCH//p' "$script"); do
    [[ $option =~ $known ]] || fail "$name: unknown option $option"
  done
  chmod +x "$script"
  rm -rf out plain requeued
  cp droplet.toml deck.toml
  if grep -q 'scontrol requeue' "$script"; then
    requeues=$((requeues + 1))
    rm -f processes
    touch interrupt
    sed -i 's/steps = 1000/steps = 120000/' deck.toml
    "$script" >log 2>&1 && fail "$name: the interrupted job reports success"
    [[ -e requeued ]] || fail "$name: the job was not requeued: $(tail -n 5 log)"
    rm -f requeued
  fi
  "$script" >log 2>&1 || fail "$name: $(tail -n 5 log)"
  [[ ! -e requeued ]] || fail "$name: a finished job was requeued"
  compgen -G "out/averages.csv" >/dev/null || compgen -G "out/*/averages.csv" >/dev/null ||
    fail "$name: no results: $(tail -n 5 log)"
  if [[ -e out/averages.csv ]]; then
    tarn run deck.toml --out plain --quiet 2>log
    cmp {out,plain}/energies.csv || fail "$name: other results"
  fi
done
((scripts == 5 && requeues == 1)) || fail "$scripts scripts, $requeues of which requeue their job"
echo "$scripts scripts"
exit "$status"
