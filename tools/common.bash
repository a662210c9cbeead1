# What the scripts of tools/ share; sourced from the root of the source tree, not run.
# shellcheck shell=bash
set -euo pipefail

say() { printf '\n== %s\n' "$*"; }

die() {
  printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the comment at the head of the script, which begins with its usage.
help() {
  sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"
}

# configure PRESET
configure() {
  say "Configuring the preset $1 in build/$1"
  cmake --preset "$1" || die "cmake could not configure build/$1; its last words are above.
If that folder was made by another tree or with another generator, remove it and try again."
}

# build PRESET [target]...
build() {
  local preset=$1
  shift
  say "Building ${*:-everything} with $(nproc) processes"
  cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "the build failed; the first error is above.
With a compiler other than those that CONTRIBUTING.md names, a new warning may be the cause:
cmake --preset $preset -DTARN_WERROR=OFF"
}
