# Functions shared by the scripts of tools/; sourced from the root of the source tree, not run.
# shellcheck shell=bash
set -euo pipefail

say() { printf '\n== %s\n' "$*"; }

die() {
  printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the comment at the top of the script, which begins with its usage.
help() {
  sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"
}

# configure PRESET [option of cmake]...
configure() {
  say "Configuring the preset $1 in build/$1"
  cmake --preset "$@" || die "cmake could not configure build/$1; its messages are above.
If another source tree or generator created that folder, remove it and try again."
}

# build PRESET [target]...
build() {
  local preset=$1
  shift
  say "Building ${*:-everything} with $(nproc) processes"
  cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "the build failed; the first error is above.
If the compiler is not listed in CONTRIBUTING.md, a new warning may be the cause; try:
cmake --preset $preset -DTARN_WERROR=OFF"
}

# The programs that tools/gpu-check runs: paths in a build folder, and their targets.
# shellcheck disable=SC2034  # used by scripts that source this file
gpu_programs=(bin/tarn bin/gpu_bench bin/run_bench tests/device/device_probe_test
  tests/device/engine_devices_test tests/device/history_devices_test
  tests/device/many_body_devices_test
  tests/device/ring_devices_test tests/device/roots_test tests/device/single_point_test)
# shellcheck disable=SC2034
gpu_targets=(tarn_cli gpu_bench run_bench device_device_probe_test device_engine_devices_test
  device_history_devices_test device_many_body_devices_test device_ring_devices_test
  device_roots_test device_single_point_test)
# gpu_sources: prints one checksum of all sources of these programs.
gpu_sources() {
  find include src kernels bench tests/device tests/support cmake CMakeLists.txt -type f -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16
}
