#!/usr/bin/env bash
# usage: note_resources.sh COMPILER ARGUMENT...
#
# Runs nvcc. ptxas reports about kernels are written to <object>.resources, for tools/register-table;
# all other output goes to the terminal.
set -euo pipefail
object='' previous=''
for argument in "$@"; do
  [[ $previous == -o ]] && object=$argument
  previous=$argument
done
status=0
"$@" 2>"$object.words" || status=$?
kernels='^ptxas info |^    [0-9]+ bytes stack frame'
grep -E "$kernels" "$object.words" >"$object.resources" || true
grep -vE "$kernels" "$object.words" >&2 || true
rm "$object.words"
exit "$status"
