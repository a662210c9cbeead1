#!/usr/bin/env bash
# Checks that the container and the conda environment provide what CMake asks for, and that all files
# name the same version of the project.
# usage: packages.sh [TREE]
set -euo pipefail
cd "${1:-.}"
status=0
complain() {
  printf '%s\n' "$1" >&2
  status=1
}

# The container has no package list of its own: tools/setup installs everything.
grep -qE '^RUN tools/setup\b' Containerfile || complain "Containerfile does not run tools/setup"
grep -nE '^[^#]*(apt-get|apt|dpkg) ' Containerfile && complain "Containerfile installs packages itself; add them to tools/setup"

# conda_name PACKAGE: the package of conda-forge that provides a package of CMake.
conda_name() {
  case $1 in
    Threads) echo cxx-compiler ;;
    Eigen3) echo eigen ;;
    MPI) echo openmpi ;;
    *) echo "${1,,}" ;;
  esac
}
mapfile -t listed < <(sed -nE 's/^  - ([a-z0-9-]+).*/\1/p' environment.yml)
mapfile -t asked < <(sed -nE 's/^ *tarn_(require|optional)\(([[:alnum:]]+) .*/\2/p' cmake/dependencies.cmake)
((${#asked[@]} > 0)) || complain "cmake/dependencies.cmake asks for no package"
for package in "${asked[@]}"; do
  name=$(conda_name "$package")
  [[ " ${listed[*]} " == *" $name "* ]] ||
    complain "environment.yml lacks $name, which cmake/dependencies.cmake asks for as $package"
done
# Libraries without a package of CMake: their headers are given to CMake by hand.
while read -r variable; do
  grep -qF -e "-D$variable=" docs/running.md ||
    complain "docs/running.md#other-systems does not set $variable"
done < <(sed -nE 's/^find_path\((TARN_[A-Z0-9_]+) .*/\1/p' cmake/dependencies.cmake)

# Versions of the project in all files.
version=$(sed -nE 's/^project\(tarn VERSION ([0-9]+\.[0-9]+\.[0-9]+) .*/\1/p' CMakeLists.txt)
[[ -n $version ]] || complain "CMakeLists.txt names no version"
grep -qx "version: $version" CITATION.cff || complain "CITATION.cff does not name version $version"
grep -qx 'input = "CMakeLists.txt"' pyproject.toml && ! grep -qE '^version *=' pyproject.toml ||
  complain "pyproject.toml does not take its version from CMakeLists.txt"
# The changelog begins with this version, or with a section of changes after it.
heading="## $version ($(sed -nE 's/^date-released: //p' CITATION.cff))"
first=$(sed -n '/^## /p' CHANGELOG.md | sed '1{/^## Unreleased$/d}' | head -n 1)
[[ $first == "$heading" ]] ||
  complain "CHANGELOG.md begins with '$first', not with '$heading', the version and date of CITATION.cff"
# Programs that use the library ask for this minor version.
while IFS=: read -r file asked; do
  [[ $asked == "find_package(tarn ${version%.*}" ]] || complain "$file: $asked, but this is version $version"
done < <(grep -oE 'find_package\(tarn [0-9.]+' docs/library.md docs/library/CMakeLists.txt)
exit "$status"
