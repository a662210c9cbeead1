#!/usr/bin/env bash
# Checks that a multiprocessor has registers for a block of every kernel in registers.txt: the most
# threads of a block, from __launch_bounds__ (1024 without it), times the registers of a thread,
# which are allocated in eights, are at most 65 536.
# usage: launch_bounds.sh [SOURCE [TABLE]]
set -euo pipefail
source=${1:-.}
table=${2:-$source/tests/structure/registers.txt}
awk '
  # The value of a product of numbers and constants; 0 if a constant is unknown.
  function value(text, file, part, n, i, product) {
    gsub(/[ ()]/, "", text)
    n = split(text, part, "*")
    product = 1
    for (i = 1; i <= n; ++i) {
      if (part[i] ~ /^[0-9]+$/) product *= part[i]
      else if ((file, part[i]) in constant) product *= value(constant[file, part[i]], file)
      else if (part[i] in shared) product *= value(shared[part[i]], file)
      else return 0
    }
    return product
  }
  FILENAME == table {
    if (/^#/) next
    name = $1
    sub(/<.*/, "", name)
    if (!(name in file_of)) { print name " has no definition in kernels"; bad = 1; next }
    threads = 1024
    if (bound[name] != "") threads = value(bound[name], file_of[name])
    registers = 8 * int(($2 + 7) / 8)
    if (threads == 0) { print $1 ": the value of " bound[name] " was not found"; bad = 1 }
    if (threads * registers > 65536) {
      print $1 ": blocks of " threads " threads with " registers " registers each exceed 65536"
      bad = 1
    }
    ++kernels
    next
  }
  {
    line = $0
    while (match(line, /k[A-Z][A-Za-z]* = [A-Za-z0-9 *]+[,;]/)) {
      entry = substr(line, RSTART, RLENGTH - 1)
      split(entry, side, " = ")
      if (FILENAME ~ /\.(hpp|cuh)$/) shared[side[1]] = side[2]
      else constant[FILENAME, side[1]] = side[2]
      line = substr(line, RSTART + RLENGTH)
    }
  }
  /__global__/ { head = ""; inside = 1 }
  inside {
    head = head " " $0
    if (match(head, /[a-z_]+_kernel\(/)) {
      name = substr(head, RSTART, RLENGTH - 1)
      file_of[name] = FILENAME
      bound[name] = ""
      if (match(head, /__launch_bounds__\([^,)]+/)) bound[name] = substr(head, RSTART + 18, RLENGTH - 18)
      inside = 0
    }
  }
  END {
    if (kernels == 0) { print "no kernel in " table; bad = 1 }
    if (!bad) print "the blocks of " kernels " kernels have enough registers"
    exit bad
  }' table="$table" "$source"/kernels/*.hpp "$source"/kernels/*.cuh "$source"/kernels/*.cu "$table"
