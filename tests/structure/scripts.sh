#!/usr/bin/env bash
# Checks the scripts: executable, strict, well-formed, and each tool explains itself.
set -euo pipefail
status=0
complain() {
  echo "$1: $2" >&2
  status=1
}
for script in tools/* .ci/run tests/*/*.sh; do
  [[ -x $script || $script == *.bash ]] || complain "$script" "not executable"
  bash -n "$script" || complain "$script" "does not parse"
  grep -q '^set -euo pipefail$' "$script" || complain "$script" "lacks 'set -euo pipefail'"
  if command -v shellcheck >/dev/null; then
    shellcheck --external-sources --severity=warning "$script" || complain "$script" "shellcheck has remarks"
  fi
  [[ $script == tests/* || $script == *.bash ]] && continue
  help=$("./$script" --help) || complain "$script" "--help fails"
  [[ $help == usage:* ]] || complain "$script" "--help does not begin with 'usage:'"
done
exit "$status"
