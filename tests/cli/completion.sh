#!/usr/bin/env bash
# The completion for bash offers every command, and the options of each, of the program as it is.
# usage: completion.sh PROGRAM
set -euo pipefail
program=$1
# shellcheck source=/dev/null
source "$(dirname "$0")/../../src/cli/completion.bash"

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
# Keys after --set, and the values of keys and options. The shell splits at equals signs.
expect "observe.rdf.bins=" run deck.toml --set observe.rdf.b
expect "observe.rdf.bins" run deck.toml --unset observe.rdf.b
expect "settle shake" run deck.toml --set integrator.scheme = s
expect "baoab gla none" run deck.toml --set thermostat.kind =
expect "false" check --set system.relax = f
expect "tip4p tip4p2005 tip4p2005f tip4pew tip4pice" energy a.xyz --model tip4
expect "tip4pew" models tip4pe
expect "auto cpu cuda" run deck.toml --device ''
expect "cuda" run deck.toml --device = cu
expect "shake,rattle" compare deck.toml --schemes shake,r
# Names of files are the shell's: nothing is offered in their place.
expect "" run inp
expect "" nothing --
