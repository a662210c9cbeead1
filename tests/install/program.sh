#!/usr/bin/env bash
# The installed program finds the installed decks, independent of the installation folder.
# usage: program.sh PREFIX FOLDER-OF-THE-PROGRAM
set -euo pipefail
prefix=$(realpath "$1")
tarn=$prefix/$2/tarn
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cd "$box"

# The smallest figure, with the program started through a link in another folder.
ln -s "$tarn" tarn
./tarn reproduce double-pendulum --out results --threads 1 >log 2>&1 || {
  cat log >&2
  exit 1
}
[[ -s results/double-pendulum.csv ]]
# ./inputs has priority over the installed decks, and --inputs has priority over both.
mkdir inputs
if ./tarn reproduce double-pendulum --out again >log 2>&1; then
  echo "the installed decks are used although ./inputs exists" >&2
  exit 1
fi
grep -q "inputs/double-pendulum.toml" log
./tarn reproduce double-pendulum --out again --inputs "$prefix/share/tarn/inputs" >/dev/null 2>&1
cmp results/double-pendulum.csv again/double-pendulum.csv
# Every deck is installed, with its structure.
for deck in "$prefix"/share/tarn/inputs/*.toml; do
  ./tarn check "$deck" >log 2>&1 || {
    cat log >&2
    exit 1
  }
done
[[ -s $prefix/share/bash-completion/completions/tarn ]]
for document in README.md CHANGELOG.md LICENSE docs/library.md; do
  [[ -s $prefix/share/doc/tarn/$document ]]
done
