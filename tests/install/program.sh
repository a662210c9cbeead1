#!/usr/bin/env bash
# The installed program runs the installed decks.
# usage: program.sh PREFIX FOLDER-OF-THE-PROGRAM
set -euo pipefail
prefix=$(realpath "$1")
tarn=$prefix/$2/tarn
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
cd "$box"

# The program, started through a link in another folder.
ln -s "$tarn" tarn
# Every deck is installed, with its structure.
for deck in "$prefix"/share/tarn/inputs/*.toml; do
  ./tarn check "$deck" >log 2>&1 || {
    cat log >&2
    exit 1
  }
done
if [[ -e $prefix/share/doc/tarn/docs/results || -e $prefix/share/doc/tarn/docs/pages ]]; then
  echo "measured results are no installed documentation" >&2
  exit 1
fi
[[ -s $prefix/share/bash-completion/completions/tarn ]]
for document in README.md CHANGELOG.md LICENSE docs/library.md; do
  [[ -s $prefix/share/doc/tarn/$document ]]
done
