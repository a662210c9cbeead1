#!/usr/bin/env bash
# Checks that scripts are executable, strict and well-formed, and that each tool has a --help.
set -euo pipefail
status=0
complain() {
  echo "$1: $2" >&2
  status=1
}
for script in tools/* .ci/run tests/*/*.sh; do
  [[ -x $script || $script == *.bash ]] || complain "$script" "not executable"
  if [[ $(head -n 1 "$script") != *python3 ]]; then
    bash -n "$script" || complain "$script" "does not parse"
    grep -q '^set -euo pipefail$' "$script" || complain "$script" "lacks 'set -euo pipefail'"
    if command -v shellcheck >/dev/null; then
      shellcheck --external-sources --severity=warning "$script" || complain "$script" "shellcheck reports warnings"
    fi
  fi
  [[ $script == tests/* || $script == *.bash ]] && continue
  help=$("./$script" --help) || complain "$script" "--help fails"
  [[ $help == usage:* ]] || complain "$script" "--help does not begin with 'usage:'"
done
exit "$status"
