#!/usr/bin/env bash
# Installs into a folder and moves it, as packages do: no installed file may contain the first path.
# Also installs the program alone.
# usage: stage.sh CMAKE BUILD-FOLDER STAGE
set -euo pipefail
cmake=$1 build=$2 stage=$3
rm -rf "$stage" "$stage.first"
"$cmake" --install "$build" --prefix "$stage.first"
mv "$stage.first" "$stage"
if grep -rIl "$stage.first" "$stage"; then
  echo "these files contain the path of the first installation folder" >&2
  exit 1
fi

rm -rf "$stage.program"
"$cmake" --install "$build" --prefix "$stage.program" --component program
if [[ ! -x $stage.program/bin/tarn || -e $stage.program/include || -e $stage.program/lib ]]; then
  echo "the component program must contain the program, and neither headers nor libraries" >&2
  exit 1
fi
