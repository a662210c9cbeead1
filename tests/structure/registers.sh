#!/usr/bin/env bash
# Holds the kernels of a build to the table of registers and spills, registers.txt: no number may be
# above that of the table, and the same kernels must be there.
# usage: registers.sh BUILD [TABLE]
#
# Skipped where the build has no CUDA, no code for sm_90, or another toolkit than the table names.
set -euo pipefail
table=${2:-tests/structure/registers.txt}
found=$(mktemp)
trap 'rm -f "$found"' EXIT
tools/register-table "$1" >"$found" 2>&1 || {
  echo "skipped: $(tail -n 1 "$found")"
  exit 77
}
if [[ $(head -n 1 "$found") != "$(head -n 1 "$table")" ]]; then
  echo "skipped: the table is that of '$(sed -n '1s/:.*//p' "$table")', and this build is of" \
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
      if ($i > limit[$1, i]) { print $1 ": " what[i] " " $i ", the table has " limit[$1, i]; bad = 1 }
    }
  }
  END {
    for (name in expected) { print name " is in the table, but not in this build"; bad = 1 }
    if (bad) print "If this is meant: tools/register-table >tests/structure/registers.txt"
    exit bad
  }' "$table" "$found"
echo "$(($(wc -l <"$found") - 1)) kernels are within the table"
