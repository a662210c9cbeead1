#!/usr/bin/env bash
# Checks the format of all C, C++ and CUDA files with clang-format 14, the version of Debian 12.
# Other versions format some lines differently; without version 14 the test is skipped.
set -euo pipefail
formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $formatter ]]; then
  echo "skipped: clang-format was not found; tools/setup installs it"
  exit 77
fi
version=$("$formatter" --version)
if [[ ! $version =~ version\ 14\. ]]; then
  echo "skipped: $version is not version 14"
  exit 77
fi
mapfile -t files < <(find include src kernels tests bench docs python -type f \
  -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\)' | sort)
# clang-format 14 reports end comments of nested inline namespaces that it does not change.
diff <(cat "${files[@]}") <("$formatter" "${files[@]}") || {
  echo "run tools/format to correct this"
  exit 1
}
echo "${#files[@]} files are formatted"
