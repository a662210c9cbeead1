#!/usr/bin/env bash
# Checks docs/equations.md: its numbers, and that what it names exists, and what names it.
# usage: equations.sh [TREE]
set -euo pipefail
cd "${1:-.}"
page=docs/equations.md
status=0
complain() {
  printf '%s\n' "$1" >&2
  status=1
}

mapfile -t numbers < <({ grep -oE '^\*\*\([0-9]+\)' "$page" || true; } | tr -dc '0-9\n' | sort -n)
count=${#numbers[@]}
[[ ${numbers[*]} == "$(seq -s ' ' "$count")" ]] ||
  complain "$page: the numbers are not those from 1 to $count, each once"

# cited FILE PATTERN: the numbers in what matches, also over the end of a line.
cited() {
  tr '\n' ' ' <"$1" | sed -E 's@ +(//[/!<]*|#) @ @g' | { grep -oP -e "$2" || true; } |
    { grep -oE '[0-9]+' || true; } | sort -nu
}
# "equation 3", "equations (3), (4) and (7)", "(3) to (5)"; not "equation 4.2", which is a paper's.
words='\b[Ee]quations? (\(?\d+(?!\.?\d)\)?(, | and | to )?)+'
# "(3)" alone, but not "AST (3)", which is a paper's.
brackets='(?<= )(?<![A-Z] )\(\d{1,3}\)'
check() {
  local number
  while read -r number; do
    ((number >= 1 && number <= count)) || complain "$1: there is no equation ($number)"
  done < <(cited "$1" "$2")
}
roots=()
for root in include src kernels tests bench docs *.md; do [[ ! -e $root ]] || roots+=("$root"); done
mapfile -t files < <(grep -rlE '[Ee]quations?( \(?[0-9]|$)' --include='*.[hc]pp' --include='*.cu*' \
  --include='*.md' --include='*.py' -- "${roots[@]}" || true)
for file in "${files[@]}"; do check "$file" "$words"; done
check "$page" "$brackets"
if [[ -f include/tarn/mechanics_deck.hpp ]]; then check include/tarn/mechanics_deck.hpp "$brackets"; fi

# Tests, and names of the code by their last part.
known=$(grep -rhoE '[A-Za-z_][A-Za-z0-9_]*' include src | sort -u)
while read -r name; do
  case $name in
    unit/* | laws/* | regression/* | statistical/*)
      [[ -e tests/$name.cpp ]] || complain "$page: there is no test $name" ;;
    */*) ;;
    *)
      grep -qxF -e "${name##*::}" <<<"$known" || complain "$page: nothing is called $name" ;;
  esac
done < <({ grep -oE '`[A-Za-z_][A-Za-z0-9_:/]*`' "$page" || true; } | tr -d '`' | sort -u)
((status)) || echo "$count equations"
exit "$status"
