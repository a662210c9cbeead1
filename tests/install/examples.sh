#!/usr/bin/env bash
# Runs the programs of docs/library.md, and checks their output and files.
# usage: examples.sh PROGRAMS PREFIX
set -euo pipefail
programs=$(realpath "$1")
prefix=$(realpath "$2")
decks=$prefix/share/tarn/inputs
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cd "$box"

# prints PATTERN COMMAND...: the command succeeds and prints a line that matches the pattern.
prints() {
  local pattern=$1
  shift
  "$@" >log 2>&1 || {
    printf '%s fails:\n%s\n' "$*" "$(<log)" >&2
    exit 1
  }
  grep -qE -- "$pattern" log || {
    printf '%s prints no line that matches %s:\n%s\n' "$*" "$pattern" "$(<log)" >&2
    exit 1
  }
}
number='-?[0-9]+\.[0-9]+'

prints "^energies potential_kcal_per_mol: $number \+- $number\$" "$programs/run_deck" \
  "$decks/water7.toml" run.steps=400 run.equilibration_ps=0
grep -qE "^lowest potential energy: -[0-9.]+ kcal/mol\$" log
[[ -s out/water7/run.json ]]
# An error is reported, with the exit code of the command line.
status=0
"$programs/run_deck" "$decks/water7.toml" run.step=400 2>log || status=$?
[[ $status == 2 ]] && grep -q "did you mean" log

prints '^40000 samples, 0 replicas stopped, at 1\.20 ps on ' "$programs/own_loop"
# One bin in the middle contains more samples than two bins near the ends.
awk -F': ' '$1 ~ /A$/ { n[$1] = $2 } END { exit !(n["2.8 A"] > n["2.4 A"] + n["3.5 A"]) }' log

# An interrupted and resumed run writes the same files as an uninterrupted one.
prints "^oo_shortest_A: 2\.[0-9]+ \+- 0\.[0-9]+\$" "$programs/own_observer" whole 300
prints '' "$programs/own_observer" parts 130
prints '' "$programs/own_observer" parts 300
[[ $(wc -l <whole/shortest.csv) == $((2 + 31 * 16)) ]]
for file in shortest.csv oo_histogram.csv averages.csv; do
  cmp "whole/$file" "parts/$file"
done
# 16 replicas at steps 0, 20, ... 300.
awk -F, '/^[0-9]/ { sum += $2 } END { exit sum != 16 * 16 }' whole/oo_histogram.csv

# The spring holds the oxygens near its centre.
prints '^centroids_oo_A: 3\.[01][0-9]+ \+- 0\.[0-9]+$' "$programs/own_potential"
grep -q '"potential": "umbrella at 3.2 A"' umbrella/run.json

prints "^V0 = $number kcal/mol" "$programs/one_configuration"
grep -qE '^minimum of the rigid dimer: -6\.5[0-9]+ kcal/mol' log
[[ $(grep -c '1/cm' log) == 12 ]]

# The potential in C.
prints "^energies potential_kcal_per_mol: $number \\+- $number\$" "$programs/run_deck" \
  "$prefix/share/doc/tarn/docs/library/flexible_water.toml" \
  potential.path="$programs/libflexible_water.so"
grep -qF 'library libflexible_water.so (1000)' out/flexible_water/run.json
echo "the examples work"
