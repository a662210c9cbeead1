#!/usr/bin/env bash
# Installs into one folder and moves all of it to another, as packages are: nothing of what is
# installed may know where it is.
# usage: stage.sh CMAKE BUILD-FOLDER STAGE
set -euo pipefail
cmake=$1 build=$2 stage=$3
rm -rf "$stage" "$stage.first"
"$cmake" --install "$build" --prefix "$stage.first"
mv "$stage.first" "$stage"
if grep -rIl "$stage.first" "$stage"; then
  echo "these files name the folder that tarn was installed into" >&2
  exit 1
fi
