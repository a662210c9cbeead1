#!/usr/bin/env bash
# Checks the reports of tools/gpu-check, with mock programs of a mock build: all steps run and are
# reported separately, in at most five files; a failed test is repeated; the time limit holds; an
# interrupted check leaves its results so far.
set -euo pipefail
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
complain() {
  echo "$1; the summary:" >&2
  cat "$box/out/summary.txt" >&2
  exit 1
}
program() {
  mkdir -p "$(dirname "$box/$1")"
  { echo '#!/bin/bash' && cat; } >"$box/$1"
  chmod +x "$box/$1"
}
program build/bin/tarn <<<'[[ $1 == doctor ]] && echo "CUDA: a GPU" || echo ran'
program build/bin/gpu_bench <<'END'
echo "device: a GPU"; echo "zss_gla/double 3.0"
sleep "${SLOW:-0}"
echo "ERROR OCCURRED: no"
exit 1
END
program build/bin/run_bench <<<'echo "energies every 100 2e9 1e9 50.0 %"'
program build/tests/device/device_probe_test <<<'exit 0'
program build/tests/device/roots_test <<<'exit 0'
program build/tests/device/single_point_test <<<'exit 0'
program build/tests/device/engine_devices_test <<'END'
case $* in
  *list_tests*) printf 'All/E.\n  Good/cuda  # GetParam()\n  Bad/cuda  # GetParam()\n  Slow/cuda\n' ;;
  *Good*) echo fine ;;
  *Slow*) echo "[ RUN ] Slow" && sleep "${SLOW:-0}" ;;
  *Bad*) printf 'x.cpp:1: Failure\nCUDA: no (warp_path.cu:%s)\n' "${CUDA_LAUNCH_BLOCKING:-0}" && exit 1 ;;
esac
END
program bin/compute-sanitizer <<'END'
[[ $2 == memcheck ]] && exit 0
[[ $2 == initcheck ]] && echo "========= Error: Device not supported" && exit 9
echo "========= Race reported between threads" && exit 9
END

check() { PATH=$box/bin:$PATH tools/gpu-check --build "$box/build" "$@" "$box/out" >/dev/null 2>&1; }
expect() { grep -qE "$1" "$box/out/summary.txt" || complain "expected '$1'"; }
! SLOW=60 check --seconds 30 || complain "the exit status does not report failures"
expect '^CUDA: a GPU'
expect '^device_probe: passed'
expect '^All.E.Good.cuda: passed'
expect '^All.E.Bad.cuda: FAILED with status 1'
expect '^    CUDA: no \(warp_path.cu:0\)'
expect '^All.E.Slow.cuda: FAILED, more than [0-9]+ s'
expect '^    last line: \[ RUN \] Slow'
# Hanging tests take half of the time; the other steps get the rest.
expect '^again.All.E.Slow.cuda: (NOT RUN, no time left|FAILED, more than [0-9] s)'
expect '^run_cuda_double: passed'
expect '^gpu_bench: FAILED, more than'
expect '^racecheck: NOT RUN, no time left'
expect 'something FAILED$'
! check --only engine_devices,runs,gpu_bench,run_bench,sanitizer || complain "the exit status does not report failures"
expect '^All.E.Slow.cuda: passed'
expect '^    CUDA: no \(warp_path.cu:1\)'
expect '^single_points: passed'
expect '^roots: passed'
expect '^run_cuda_single: passed'
expect '^gpu_bench: FAILED with status 1'
expect '^zss_gla/double 3.0'
expect '^run_bench: passed'
expect '^    energies every 100'
expect '^memcheck: passed'
expect '^racecheck: FAILED with status 9'
expect '^initcheck: NOT RUN, compute-sanitizer does not support this machine'
# Killed at an arbitrary time.
stopped() {
  { SLOW=8 PATH=$box/bin:$PATH timeout -s KILL 4 tools/gpu-check --build "$box/build" "$@" "$box/out" >/dev/null; } 2>/dev/null
}
! stopped --only engine_devices || complain "the check was not killed"
expect '^All.E.Good.cuda: passed'
expect '^All.E.Bad.cuda: FAILED'
! grep -q '^total: ' "$box/out/summary.txt" || complain "the summary of a killed check has a total"
! stopped --only gpu_bench || complain "the check was not killed"
grep -q '^zss_gla/double 3.0' "$box/out/gpu_bench.txt" || complain "the output of the benchmark is lost"
check --only device_probe || complain "nothing failed, but the exit status is not 0"
expect 'nothing failed$'
! check --only runs,bench || complain "an unknown step is accepted"
program build/tests/device/engine_devices_test <<<'exit 0'
! check --only engine_devices || complain "a build without tests is not a failure"
expect '^engine_devices: FAILED, .* contains no tests'
(($(find "$box/out" -type f | wc -l) <= 5)) || complain "more than five files"
echo "tools/gpu-check reports each step"
