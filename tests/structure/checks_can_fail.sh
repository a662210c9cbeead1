#!/usr/bin/env bash
# Plants faults, and checks that the structure checks find them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{include/tarn/core,src/cpu,src/deck,kernels,docs}
printf 'core:\ncpu: interface core\nkernels: interface core\ninterface: core\ndeck: interface core\n' \
  >"$tree/rooms.txt"

# finds CHECK FILE LINE: the check passes without the line in the file and fails with it.
finds() {
  local file=$tree/$2
  local run=("$here/$1.sh")
  [[ $1 == include_graph ]] && run+=("$tree/rooms.txt")
  printf '#include "tarn/core/good.hpp"\n' >"$file"
  "${run[@]}" "$tree" >"$tree/.log" 2>&1 || {
    echo "$1 finds a fault where there is none:"
    cat "$tree/.log"
    exit 1
  }
  printf '%s\n' "$3" >>"$file"
  if "${run[@]}" "$tree" >"$tree/.log" 2>&1; then
    echo "$1 does not find '$3' in $2"
    exit 1
  fi
  rm "$file" "$tree/.log"
}
echo '#include <vector>' >"$tree/include/tarn/core/good.hpp"
finds include_graph include/tarn/core/bad.hpp '#include "tarn/engine.hpp"'
finds include_graph src/cpu/bad.cpp '#include "kernels/device_probe.hpp"'
finds include_graph src/cpu/bad.cpp '#include <cuda_runtime.h>'
finds include_graph src/cpu/bad.cpp '#include "tarn/deck.hpp"'
finds include_graph kernels/bad.cu '  #  include "cpu/cpu_engine.hpp"'
finds include_graph src/deck/bad.cpp '#include "cpu/cpu_engine.hpp"'
finds include_graph src/deck/bad.cpp '#include "../cpu/cpu_engine.hpp"'
finds documents docs/bad.md "see /""home/somebody/file"
finds documents docs/bad.md '[text](nowhere.md)'
finds documents docs/bad.md 'run inputs/nowhere.toml'
finds documents docs/bad.md 'blank at the end '
echo "the checks find what they must"
