#!/usr/bin/env bash
# Runs the example of docs/coupling.md: ASE moves rigid water by tarn's forces. usage: ase.sh TARN
# Exit status 77 is a skip: python3-ase is missing.
set -euo pipefail
tarn=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
python=/usr/bin/python3
if ! "$python" -c 'import ase' 2>/dev/null; then
  echo "skipped: python3-ase is not installed"
  exit 77
fi

box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir -p "$box/build/release/bin"
ln -s "$tarn" "$box/build/release/bin/tarn"
ln -s "$root/inputs" "$box/inputs"
# A name of its own: several tests may run at a time.
name=tarn-test-$$
sed -n '/^## ASE$/,/^## /p' "$root/docs/coupling.md" |
  sed -n '/^```python$/,/^```$/p' | grep -v '^```' |
  sed "s/\"water\"/\"$name\"/g" >"$box/example.py"
grep -q "$name" "$box/example.py"
(cd "$box" && timeout 120 "$python" example.py) | tee "$box/energies"

first=$("$tarn" energy "$root/inputs/structures/tip3p-7.xyz" |
  sed -n 's/.*"potential_kcal_per_mol": \([^,]*\),.*/\1/p')
# The first energy, whose bohr is another, and total energies that are kept: Verlet moves them by
# h^2 Omega^2 / 8 of the energy in a mode, 1 % for a libration of 900/cm at 1 fs; there are some 2
# kcal/mol in all.
awk -v first="$first" '
  function abs(x) { return x < 0 ? -x : x }
  NR == 1 && abs($1 - first) > 1e-6 { print "potential " $1 ", not " first; bad = 1 }
  NR == 1 { total = $2 }
  abs($2 - total) > 0.02 { print "total " $2 ", not " total; bad = 1 }
  $1 != first { moved = 1 }
  END { if (NR != 5) { print NR " rows, not 5"; bad = 1 }; exit bad || !moved }
' "$box/energies"
