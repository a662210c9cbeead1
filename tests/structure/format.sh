#!/usr/bin/env bash
# Checks the format of every C++ and CUDA file. The reference is clang-format 14, Debian 12's own:
# other versions format some lines in other ways, so that without it the test is skipped.
set -euo pipefail
formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $formatter ]]; then
  echo "skipped: no clang-format; tools/setup installs it"
  exit 77
fi
version=$("$formatter" --version)
if [[ ! $version =~ version\ 14\. ]]; then
  echo "skipped: $version is not version 14"
  exit 77
fi
mapfile -t files < <(find include src kernels tests bench docs -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) | sort)
"$formatter" --dry-run -Werror "${files[@]}" || {
  echo "tools/format mends it"
  exit 1
}
echo "${#files[@]} files are well formatted"
