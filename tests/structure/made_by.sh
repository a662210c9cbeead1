#!/usr/bin/env bash
# Checks that the parts of README.md and docs that a command prints are what it prints: those between
# "<!-- made by: tarn ARGUMENTS -->" and "<!-- end -->", outside docs/results, whose pages take long to
# make. The corrected part is printed.
# usage: made_by.sh TARN [TREE]
set -euo pipefail
tarn=$(realpath "$1")
cd "${2:-.}"
parts=0 status=0
while IFS=: read -r page line arguments; do
  parts=$((parts + 1))
  read -ra words <<<"$arguments"
  text=$("$tarn" "${words[@]}")
  found=$(awk -v from="$line" 'NR > from && /^<!-- end -->$/ { exit } NR > from' "$page")
  # Blank lines around the part are the page's.
  [[ $(sed '/./,$!d' <<<"$found") == "$text" ]] || {
    printf '%s:%s: this part is not what tarn %s prints:\n%s\n' "$page" "$line" "$arguments" "$text" >&2
    status=1
  }
done < <(find README.md docs -name '*.md' -not -path "docs/results/*" -exec grep -nHE '^<!-- made by: tarn .* -->$' {} + |
  sed -E 's/<!-- made by: tarn (.*) -->$/\1/')
((parts > 0)) || {
  echo "no part was found" >&2
  status=1
}
echo "$parts parts compared"
exit "$status"
