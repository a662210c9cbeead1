#!/usr/bin/env bash
# Counts the instructions of short runs by callgrind and compares them with the recorded ones. A
# change that makes a step dearer cannot pass unseen, however busy the machine is.
# usage: instruction_counts.sh PROGRAM COMPILER [--record]
#   PROGRAM   tests/regression/instruction_counts
#   COMPILER  name and version of the compiler, and the kind of build
#   --record  writes the table anew
# Exit status 77 is a skip: no valgrind, or a compiler whose counts are not recorded.
set -euo pipefail
program=$1 compiler=$2
table=$(cd "$(dirname "$0")" && pwd)/instruction_counts.csv
tolerance_percent=2

if ! command -v valgrind >/dev/null; then
  echo "skipped: valgrind is not installed"
  exit 77
fi

# count SET SCHEME THERMOSTAT PRECISION MOLECULES REPLICAS STEPS: instructions of a step of one
# cluster, or nothing where the instruction set is not to be had.
count() {
  local log status=0
  log=$(valgrind --tool=callgrind --toggle-collect=counted_steps --callgrind-out-file=/dev/null \
    "$program" "$@" 2>&1) || status=$?
  ((status != 77)) || return 0
  ((status == 0)) || {
    printf 'valgrind and %s fail:\n%s\n' "$*" "$log" >&2
    exit 1
  }
  local total
  total=$(sed -n 's/.*Collected : *\([0-9]*\).*/\1/p' <<<"$log")
  echo $((total / ($6 * $7)))
}

if [[ ${3:-} == --record ]]; then
  {
    echo "# $compiler; instructions of a step of one cluster, by callgrind"
    echo "instruction_set,scheme,thermostat,precision,molecules,replicas,steps,instructions"
    for set in avx2 portable; do
      for run in "zss-stiff gla double 7 8 64" "zss-stiff gla mixed 7 8 64" \
        "settle baoab double 7 8 64" "settle baoab single 7 8 64" "shake gla double 7 8 64" \
        "zss-stiff gla double 100 1 16" "zss-stiff gla mixed 100 1 16" \
        "zss-stiff gla single 7 8 64" "zss-stiff gla single 100 1 16" \
        "zss-stiff gla double 7 1 64" "zss-stiff gla mixed 40 1 16"; do
        read -ra words <<<"$set $run"
        echo "${words[*]} $(count "${words[@]}")" | tr ' ' ','
      done
    done
  } >"$table.new"
  mv "$table.new" "$table"
  exit
fi

recorded=$(sed -n '1s/^# \(.*\); .*/\1/p' "$table")
if [[ $recorded != "$compiler" ]]; then
  echo "skipped: this is $compiler, the counts are of $recorded"
  exit 77
fi
status=0 compared=0 compared_set=
while IFS=, read -ra cells; do
  # One instruction set by day.
  if [[ -z ${TARN_TEST_FULL:-} && -n $compared_set && ${cells[0]} != "$compared_set" ]]; then continue; fi
  now=$(count "${cells[@]:0:7}")
  if [[ -z $now ]]; then
    echo "${cells[0]}: not on this machine"
    continue
  fi
  compared=$((compared + 1)) compared_set=${cells[0]}
  was=${cells[7]}
  change=$((100 * (now - was)))
  echo "${cells[*]:0:7}: $now, recorded $was"
  if ((change > tolerance_percent * was || -change > tolerance_percent * was)); then
    echo "  differs by more than $tolerance_percent %; if that is meant: $0 $program '$compiler' --record" >&2
    status=1
  fi
done < <(tail -n +3 "$table")
((compared > 0)) || {
  echo "nothing was compared" >&2
  status=1
}
exit "$status"
