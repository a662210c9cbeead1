#!/usr/bin/env bash
# Compares the kernels of a build with the table of registers and spills, registers.txt: no number may
# exceed that of the table, and both must contain the same kernels.
# usage: registers.sh BUILD [TABLE]
#
# Skipped if the build has no CUDA, no code for sm_90, or another toolkit than the table.
set -euo pipefail
table=${2:-tests/structure/registers.txt}
found=$(mktemp)
trap 'rm -f "$found"' EXIT
tools/register-table "$1" >"$found" 2>&1 || {
  echo "skipped: $(tail -n 1 "$found")"
  exit 77
}
if [[ $(head -n 1 "$found") != "$(head -n 1 "$table")" ]]; then
  echo "skipped: the table is from '$(sed -n '1s/:.*//p' "$table")', and this build from" \
    "'$(sed -n '1s/:.*//p' "$found")'"
  exit 77
fi
(($(wc -l <"$found") > 1)) || {
  echo "skipped: this build has no code for sm_90"
  exit 77
}
awk '
  BEGIN { split("kernel registers spill-stores spill-loads stack shared", what) }
  FNR == 1 { next }
  FNR == NR { for (i = 2; i <= 6; ++i) limit[$1, i] = $i; expected[$1] = 1; next }
  !($1 in expected) { print $1 " is not in the table"; bad = 1; next }
  {
    delete expected[$1]
    for (i = 2; i <= 6; ++i) {
      if ($i > limit[$1, i]) { print $1 ": " what[i] " " $i ", more than " limit[$1, i] " in the table"; bad = 1 }
    }
  }
  END {
    for (name in expected) { print name " is in the table but not in this build"; bad = 1 }
    if (bad) print "If this is intended, run: tools/register-table >tests/structure/registers.txt"
    exit bad
  }' "$table" "$found"
echo "$(($(wc -l <"$found") - 1)) kernels do not exceed the table"
