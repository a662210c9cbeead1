#!/usr/bin/env bash
# Checks that MDAnalysis and h5py open what tarn writes and find the same positions in it, and that
# tarn reads what MDAnalysis writes. usage: other_tools.sh TARN
# Exit status 77 is a skip: the packages are missing (python3-mdanalysis, python3-h5py).
set -euo pipefail
tarn=$1
here=$(cd "$(dirname "$0")" && pwd)
# The system's own: another python need not have the Debian packages.
python=/usr/bin/python3
if ! "$python" -c 'import MDAnalysis, h5py' 2>/dev/null; then
  echo "skipped: python3-mdanalysis or python3-h5py is not installed"
  exit 77
fi
if "$tarn" doctor | grep -q 'HDF5: not in this build'; then
  echo "skipped: this build has no HDF5"
  exit 77
fi

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cat >"$box/deck.toml" <<'DECK'
system = {molecules = 5, replicas = 2, recentre = true}
integrator.scheme = "settle"
thermostat = {kind = "gla", temperature_K = 10.0, friction_per_ps = 5.0}
run.steps = 400
observe.trajectory.every = 50
DECK
for format in xyz h5md dcd xtc trr gro pdb; do
  "$tarn" run "$box/deck.toml" --quiet --threads 1 --set "observe.trajectory.format=$format" \
    --out "$box/$format"
done

# A run that is killed in the middle.
for seconds in 2 1 4 0.5 8; do
  timeout -s KILL "$seconds" "$tarn" run "$box/deck.toml" --quiet --threads 1 --overwrite \
    --set observe.trajectory.format=h5md --set observe.trajectory.every=2000 \
    --set checkpoint.every=50000 --set run.steps=4000000 --out "$box/killed" || true
  grep -q '"status": "running"' "$box/killed/run.json" && break
done
"$python" "$here/other_tools.py" "$tarn" "$box"
