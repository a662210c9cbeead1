#!/usr/bin/env bash
# The completion for bash offers every command, and the options of each, of the program as it is.
# usage: completion.sh PROGRAM COMPLETION
set -euo pipefail
program=$1
# shellcheck source=/dev/null
source "$2"

offered() { # the words before the cursor, the last of them begun
  COMP_WORDS=("$program" "$@")
  COMP_CWORD=$#
  _tarn
  printf '%s\n' "${COMPREPLY[@]}" | sort
}
expect() {
  local is
  is=$(offered "${@:2}" | tr '\n' ' ')
  [[ $is == "$1 " ]] && return
  echo "after '${*:2}': '$is', not '$1'" >&2
  exit 1
}

# An empty command line makes the program name them itself.
commands=$("$program" 2>&1 || true)
commands=${commands##*the commands are }
expect "$({ tr -d ' ' <<<"$commands" | tr ',' '\n'; printf '%s\n' help --help --version; } |
  sort | tr '\n' ' ' | sed 's/ $//')" ''
expect "run" ru
expect "check cluster compare convert" help c
expect "--resume" run deck.toml --res
expect "-o" convert a.xyz -o
expect "--out" convert a.xyz --o
expect "--schemes --set --steps" compare deck.toml --s
# Names of files are the shell's: nothing is offered in their place.
expect "" run inp
expect "" nothing --
