#!/usr/bin/env bash
# Runs every Slurm script of docs with stand-ins for the commands of Slurm: sbatch checks the options and
# sends the signal of --signal, srun starts the program with mpirun if there is one, GPUs become
# processors, and the run is short. Each script is killed before its first checkpoint, interrupted after it, requeued by
# itself or submitted again, and must give the files of an uninterrupted run. The script of
# docs/clusters.md runs with each line and device of its table.
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
known='^--(nodes|ntasks|ntasks-per-node|cpus-per-task|gpus-per-node|time|requeue|signal|array|open-mode|kill-on-bad-exit)(=[^ =]+)?$'

mkdir "$box/bin" "$box/job"
cat >"$box/bin/tarn" <<FAKE
#!/usr/bin/env bash
echo \$\$ >>processes
echo "\$*" >arguments
exec "$tarn" "\${@/#cuda*/cpu}"
FAKE
cat >"$box/bin/srun" <<FAKE
#!/usr/bin/env bash
while [[ \$1 == --* ]]; do
  [[ \$1 =~ $known ]] || { echo "srun: unknown option \$1" >&2; exit 1; }
  shift
done
exec $launcher "\$@"
FAKE
cat >"$box/bin/scontrol" <<FAKE
#!/usr/bin/env bash
[[ "\$*" == "requeue 12" ]] && touch requeued
FAKE
# sbatch SCRIPT: if there is a file "interrupt", the time limit comes after the first checkpoint.
cat >"$box/bin/sbatch" <<FAKE
#!/usr/bin/env bash
[[ \$(head -n 1 "\$1") == '#!/bin/'* ]] || { echo "the first line names no shell"; exit 1; }
# sbatch reads options only before the first command.
! sed -n '/^[^#]/,\$ p' "\$1" | grep -q '#SBATCH' || { echo "options after the first command"; exit 1; }
for option in \$(sed -n 's/^#SBATCH//p' "\$1"); do
  [[ \$option =~ $known ]] || { echo "unknown option \$option"; exit 1; }
done
[[ " \$(sed -n 's/^#SBATCH//p' "\$1" | tr '\n' ' ') " == *" --requeue "* ]] || { echo "no --requeue"; exit 1; }
signal=\$(sed -n 's/^#SBATCH.*--signal=\([^@]*\)@.*/\1/p' "\$1")
rm -f processes
"\$1" &
job=\$!
if [[ -e interrupt ]]; then
  rm interrupt
  while kill -0 \$job && [[ -z \$(find . -name checkpoint.bin) ]]; do sleep 0.02; done
  # With "B:" only the shell of the script receives the signal, otherwise only the tasks of srun.
  [[ \$signal == B:* ]] && kill -"\${signal#B:}" \$job || kill -"\$signal" \$(<processes)
fi
wait \$job
FAKE
chmod +x "$box"/bin/*

cat >"$box/deck.toml" <<'DECK'
system = {molecules = 7, replicas = 32}
integrator.scheme = "zss-stiff"
thermostat = {kind = "gla", temperature_K = 200.0, friction_per_ps = 5.0}
run.steps = 120000
observe.energies = {every = 100, replicas = "mean"}
checkpoint.every = 1000
DECK

export PATH=$box/bin:$PATH SLURM_SUBMIT_DIR=$box/job SLURM_JOB_ID=12 SLURM_ARRAY_TASK_ID=3
export SLURM_CPUS_PER_TASK=1 CUDA_VISIBLE_DEVICES=-1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

for page in clusters running; do
  awk -v out="$box/script-$page-" '
    /^```sh *$/ { text = ""; inside = 1; next }
    /^```/ { if (inside && text ~ /#SBATCH/) { n++; printf "%s", text > (out n) }; inside = 0 }
    inside { text = text $0 "\n" }' "docs/$page.md"
done
# The other rows of the table: "| machine | `LINE` | `DEVICE` |"; the first is that of the script.
rows=$(sed -nE 's/^\| [^|]* \| `(--nodes[^`]*)` \| `([^`]*)` \|$/\1;\2/p' docs/clusters.md)
script=$box/script-clusters-1
first=${rows%%$'\n'*}
grep -qxF -- "#SBATCH ${first%;*}" "$script" && grep -qF -- "--device ${first#*;} " "$script" ||
  fail "docs/clusters.md: the script differs from the first row of its table"
number=0
while IFS=';' read -r line device; do
  number=$((number + 1))
  sed -E "s|^#SBATCH --nodes.*|#SBATCH $line|; s|--device [^ ]+|--device $device|" "$script" \
    >"$box/script-row-$number"
done <<<"$rows"
rm "$script"

cd "$box/job"
cp "$box/deck.toml" deck.toml
cp "$box/deck.toml" droplet.toml
tarn run deck.toml --out "$box/plain" --quiet
tarn run deck.toml --out "$box/plain-3" --quiet --set system.seed=3
scripts=0
for script in "$box"/script-*; do
  scripts=$((scripts + 1))
  name="$(basename "$script"), $(grep -m 1 '#SBATCH' "$script")"
  chmod +x "$script"
  rm -rf out requeued
  # An earlier job was killed before its first checkpoint.
  folder=out/deck
  [[ $script != *running* ]] || folder=out/droplet-3
  mkdir -p "$folder" && cp "$box/plain/run.json" "$folder"
  touch interrupt
  sbatch "$script" >log 2>&1 && fail "$name: the interrupted job reports success"
  if [[ $script != *running* ]]; then
    [[ -e requeued ]] || fail "$name: the job was not requeued: $(tail -n 5 log)"
    rm -f requeued
  fi
  grep -q '"status": "interrupted"' "$(find out -name run.json)" || fail "$name: the run was not interrupted"
  sbatch "$script" >log 2>&1 || fail "$name: $(tail -n 5 log)"
  [[ $(<arguments) == *--resume* ]] || fail "$name: the second job did not resume the run"
  [[ ! -e requeued ]] || fail "$name: a finished job was requeued"
  folder=$(dirname "$(find out -name energies.csv)")
  plain=$box/plain
  [[ $script != *running* ]] || plain=$box/plain-3
  cmp "$folder/energies.csv" "$plain/energies.csv" || fail "$name: other results"
done
((scripts == 4)) || fail "$scripts scripts"
echo "$scripts scripts"
exit "$status"
