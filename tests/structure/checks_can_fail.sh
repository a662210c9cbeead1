#!/usr/bin/env bash
# Inserts errors, and checks that the structure checks detect them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{include/tarn/core,src/cpu,src/deck,kernels,bench,python/bindings,docs/results}
printf 'core:\ncpu: interface core\nkernels: interface core\ninterface: core\ndeck: interface core\npython: interface core\n' \
  >"$tree/modules.txt"

# finds CHECK FILE LINE: the check passes without the line in the file, and fails with it.
finds() {
  local file=$tree/$2
  local run=("$here/$1.sh")
  [[ $1 == include_graph ]] && run+=("$tree/modules.txt")
  printf '#include "tarn/core/good.hpp"\n' >"$file"
  "${run[@]}" "$tree" >"$tree/.log" 2>&1 || {
    echo "$1 reports an error in a correct tree:"
    cat "$tree/.log"
    exit 1
  }
  printf '%s\n' "$3" >>"$file"
  if "${run[@]}" "$tree" >"$tree/.log" 2>&1; then
    echo "$1 does not detect '$3' in $2"
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
echo '#include <Eigen/Core>' >"$tree/src/cpu/eigen.hpp"
finds include_graph bench/bad.cu '#include "cpu/eigen.hpp"'
finds include_graph src/deck/bad.cpp '#include "cpu/cpu_engine.hpp"'
finds include_graph src/deck/bad.cpp '#include "../cpu/cpu_engine.hpp"'
finds include_graph src/deck/bad.cpp '#include <nanobind/nanobind.h>'
finds include_graph src/deck/bad.cpp '#include <toml++/toml.h>'
finds include_graph src/deck/bad.cpp '#include <CLI/CLI.hpp>'
finds include_graph src/cpu/bad.cpp '#include <Eigen/LU>'
finds include_graph python/bindings/bad.cpp '#include "kernels/device_probe.hpp"'
finds replica_map src/cpu/bad.cpp 'a = ids[k] % groups;'
finds replica_map kernels/bad.cu 'a = static_cast<int>(replica_id) % groups;'
finds documents docs/bad.md "see /""home/somebody/file"
finds documents docs/bad.md '[text](nowhere.md)'
finds documents docs/bad.md '[text](#nowhere)'
finds documents docs/bad.md '[text](bad.md#nowhere)'
finds documents docs/bad.md 'run inputs/nowhere.toml'
finds documents docs/bad.md 'blank at the end '
finds documents docs/results/bad.csv "$(printf '%0150000d' 0)"
mkdir "$tree/inputs"
touch "$tree/inputs/listed.toml"
printf '| `listed` | a question | 1 |\n' >"$tree/inputs/README.md"
finds documents README.md "$(printf 'line\n%.0s' {1..150})"
touch "$tree/inputs/unlisted.toml"
if "$here/documents.sh" "$tree" >/dev/null 2>&1; then
  echo "documents does not detect a deck that inputs/README.md lacks"
  exit 1
fi
rm -r "$tree/inputs"
finds equations docs/equations.md '**(2) The first has no number.**'
finds equations docs/equations.md 'as in (1)'
finds equations docs/equations.md 'by `nobody`'
finds equations docs/equations.md 'by `unit/nowhere_test`'
printf '| [part](#a-part) | (1) |\n\n## A part\n\n**(1) A number.**\n' >"$tree/docs/equations.md"
finds equations docs/equations-more.md '**(1) A number twice.**'
finds equations docs/equations-more.md '**(2) A number that the index lacks.**'
finds equations docs/equations-more.md 'as in (2)'
finds equations docs/equations-more.md 'by `nobody`'
finds equations docs/equations-more.md 'by `unit/nowhere_test`'
finds equations src/cpu/bad.cpp '// equations (1) and (2)'
finds equations docs/bad.md '[equation 2](equations.md)'
finds equations docs/bad.md $'equation\n(2)'
printf '## More\n\n**(2) Another number.**\n' >"$tree/docs/equations-more.md"
sed -i 's/(1) |$/(1), (2) |/' "$tree/docs/equations.md"
if "$here/equations.sh" "$tree" >/dev/null 2>&1; then
  echo "equations does not detect an index with a wrong link"
  exit 1
fi
sed -i 's/^| .*/| [part](#a-part) | (1) |\n| [more](equations-more.md#more) | (2) |/' "$tree/docs/equations.md"
"$here/equations.sh" "$tree" >/dev/null || {
  echo "equations reports an error in a correct index of two pages"
  exit 1
}
rm "$tree"/docs/equations*.md
printf 'int main() {}\n' >"$tree/docs/good.cpp"
quoted='<!-- source: good.cpp -->\n```cpp\nint main() {}\n```\n'
part=${quoted/int main/main}
for quote in "$quoted" "${part/source/excerpt}" "$part" "${quoted/\{\}/\{ \}}" \
  "${quoted/source/excerpt: x}" "${quoted/good/none}"; do
  printf "text\n\n$quote\nmore\n\`\`\`sh\ntrue\n\`\`\`\n" >"$tree/docs/quote.md"
  if "$here/documents.sh" "$tree" >/dev/null 2>&1; then found=0; else found=1; fi
  [[ $quote == "$quoted" || $quote == "${part/source/excerpt}" ]] && expected=0 || expected=1
  ((found == expected)) || {
    echo "documents.sh returns $found for $quote"
    exit 1
  }
done
rm "$tree/docs/quote.md"

# packages SED-COMMAND FILE: the exit status of packages.sh after a change of one of its files.
packages() {
  rm -rf "$tree/packages"
  mkdir -p "$tree/packages"/{cmake,docs/library}
  for file in Containerfile environment.yml CITATION.cff CMakeLists.txt CHANGELOG.md pyproject.toml \
    cmake/dependencies.cmake docs/{running,library}.md docs/library/CMakeLists.txt; do
    cp "$here/../../$file" "$tree/packages/$file"
  done
  [[ -z $1 ]] || sed -i "$1" "$tree/packages/$2"
  "$here/packages.sh" "$tree/packages" >/dev/null 2>&1
}
packages '' '' || {
  echo "packages reports an error in the files of this tree"
  exit 1
}
for change in '/^RUN tools.setup/d Containerfile' 's/^RUN tools.setup/& \&\& apt-get install x/ Containerfile' \
  '/- fmt/d environment.yml' '/- cxx-compiler/d environment.yml' \
  '$atarn_optional(ZLIB "zlib1g-dev") cmake/dependencies.cmake' 's/DTARN_RANDOM123/D/ docs/running.md' \
  's/^version.*/version: 0.0.1/ CITATION.cff' 's/^date-released.*/date-released: 2026-01-01/ CITATION.cff' \
  's/^## [0-9.]* /## 0.0.1 / CHANGELOG.md' '/^## /s/ (/ / CHANGELOG.md' \
  '0,/^## /s/^## .*/## Unreleased\n## Later/ CHANGELOG.md' 's/^input = .*// pyproject.toml' \
  's/^dynamic = .*/version = "0.3.0"/ pyproject.toml' 's/tarn [0-9]\.[0-9]/tarn 0.1/ docs/library.md'; do
  if packages "${change% *}" "${change##* }"; then
    echo "packages does not detect the change $change"
    exit 1
  fi
done

# bounds REGISTERS BOUND: the exit status of launch_bounds for one kernel.
bounds() {
  mkdir -p "$tree/bounds/kernels"
  echo 'inline constexpr int kLanes = 32;' >"$tree/bounds/kernels/layout.hpp"
  echo >"$tree/bounds/kernels/empty.cuh"
  printf 'constexpr int kThreads = 8 * kLanes;\n__global__ void %s\n    one_kernel(int n) {}\n' "$2" \
    >"$tree/bounds/kernels/one.cu"
  printf '# table\none_kernel<true> %s 0 0 0 0\n' "$1" >"$tree/bounds/registers.txt"
  "$here/launch_bounds.sh" "$tree/bounds" "$tree/bounds/registers.txt" >/dev/null 2>&1
}
for good in '255 __launch_bounds__(kThreads, 1)' '128 __launch_bounds__(2 * kThreads)' '64 '; do
  bounds "${good%% *}" "${good#* }" || {
    echo "launch_bounds reports an error for $good"
    exit 1
  }
done
for bad in '129 __launch_bounds__(2 * kThreads)' '65 ' '32 __launch_bounds__(kUnknown)'; do
  if bounds "${bad%% *}" "${bad#* }"; then
    echo "launch_bounds does not detect $bad"
    exit 1
  fi
done

# commands TEXT: the exit status of document_commands for a tree with this one document.
commands() {
  printf '%b' "$1" >"$tree/README.md"
  echo >"$tree/CONTRIBUTING.md"
  mkdir -p "$tree/tools"
  "$here/document_commands.sh" "$(type -P true)" "$tree" >/dev/null 2>&1
}
commands '```sh\nbuild/release/bin/tarn run x\n```\n' || {
  echo "document_commands reports an error in a correct document"
  exit 1
}
commands '<!-- test: shows ^[0-9],[0-9]$ -->\n```sh\necho 1,2\n```\n' || {
  echo "document_commands does not find a printed line"
  exit 1
}
for bad in '<!-- test: shows ^[0-9],[0-9]$ -->\n```sh\necho 1,\n```\n' \
  '```sh\nfalse\ntrue\n```\n' 'no block\n' '<!-- test: not run -->\n```sh\ntrue\n```\n'; do
  if commands "$bad"; then
    echo "document_commands does not detect $bad"
    exit 1
  fi
done

# made_by TEXT: the exit status of made_by, with echo as the program, for a tree with this document.
made_by() {
  printf '%b' "$1" >"$tree/README.md"
  "$here/made_by.sh" "$(type -P echo)" "$tree" >/dev/null 2>&1
}
made_by 'text\n\n<!-- made by: tarn a b -->\n\na b\n\n<!-- end -->\n' || {
  echo "made_by reports an error in a correct document"
  exit 1
}
for bad in '<!-- made by: tarn a b -->\n\na c\n\n<!-- end -->\n' 'no part\n' \
  '<!-- made by: tarn a b -->\n\na b\n\nmore\n<!-- end -->\n'; do
  if made_by "$bad"; then
    echo "made_by does not detect $bad"
    exit 1
  fi
done
echo "the checks detect all inserted errors"
