#!/usr/bin/env bash
# Configures a project that contains tarn; the installation of the project must not include tarn.
# usage: subproject.sh FOLDER [argument of cmake]...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
rm -rf "$folder"
cmake -S "$here/subproject" -B "$folder" -DTARN_SOURCE_DIR="$here/../.." -DTARN_CUDA=OFF "$@"
cmake --install "$folder" --prefix "$folder/stage"
if [[ -n $(find "$folder/stage" -type f 2>/dev/null) ]]; then
  echo "tarn was installed with the project" >&2
  exit 1
fi
