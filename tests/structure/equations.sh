#!/usr/bin/env bash
# Checks docs/equations.md and docs/equations-*.md: the numbers of the equations, the index in the first
# page, that the tests and names in the pages exist, and that equations cited elsewhere exist.
# usage: equations.sh [TREE]
set -euo pipefail
cd "${1:-.}"
entry=docs/equations.md
shopt -s nullglob
pages=("$entry" docs/equations-*.md)
status=0
complain() {
  printf '%s\n' "$1" >&2
  status=1
}

mapfile -t numbers < <({ grep -hoE '^\*\*\([0-9]+\)' "${pages[@]}" || true; } | tr -dc '0-9\n' | sort -n)
count=${#numbers[@]}
[[ ${numbers[*]} == "$(seq -s ' ' "$count")" ]] ||
  complain "${pages[*]}: the numbers are not those from 1 to $count, each once"

# Lines "page#part number": of each equation, and of each row "| [text](page#part) | (1), (2) |" of
# the index.
found=$(awk '
  /^#+ / { part = tolower($0); sub(/^#+ /, "", part); gsub(/[^a-z0-9 _-]/, "", part); gsub(/ /, "-", part) }
  /^\*\*\([0-9]+\)/ { match($0, /[0-9]+/); print FILENAME "#" part, substr($0, RSTART, RLENGTH) }' \
  "${pages[@]}" | sort)
index=$(awk -F '|' -v entry="$entry" '
  /^\| \[[^]]*\]\([^)]*#[^)]*\) \| \([0-9]/ {
    match($2, /\([^)]*\)/); link = substr($2, RSTART + 1, RLENGTH - 2)
    link = (link ~ /^#/ ? entry : "docs/") link
    n = split($3, list, /[^0-9]+/)
    for (i = 1; i <= n; ++i) if (list[i] != "") print link, list[i]
  }' "$entry" | sort)
difference=$(diff <(printf '%s\n' "$index") <(printf '%s\n' "$found") | grep '^[<>]' || true)
[[ -z $difference ]] || complain "$entry: the index (<) differs from the pages (>):
$difference"

# cited FILE PATTERN: prints the numbers in all matches, also across line ends.
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
    ((number >= 1 && number <= count)) || complain "$1: equation ($number) does not exist"
  done < <(cited "$1" "$2")
}
roots=()
for root in include src kernels tests bench docs *.md; do [[ ! -e $root ]] || roots+=("$root"); done
mapfile -t files < <(grep -rlE '[Ee]quations?( \(?[0-9]|$)' --include='*.[hc]pp' --include='*.cu*' \
  --include='*.md' --include='*.py' -- "${roots[@]}" || true)
for file in "${files[@]}"; do check "$file" "$words"; done
for page in "${pages[@]}"; do check "$page" "$brackets"; done
if [[ -f src/papers/systems.hpp ]]; then check src/papers/systems.hpp "$brackets"; fi

# Tests, and names of the code without their namespace.
known=$(grep -rhoE '[A-Za-z_][A-Za-z0-9_]*' include src | sort -u)
for page in "${pages[@]}"; do
  while read -r name; do
    case $name in
      unit/* | laws/* | regression/* | statistical/* | papers/*)
        [[ -e tests/$name.cpp ]] || complain "$page: test $name does not exist" ;;
      */*) ;;
      *)
        grep -qxF -e "${name##*::}" <<<"$known" || complain "$page: the name $name does not exist in the code" ;;
    esac
  done < <({ grep -oE '`[A-Za-z_][A-Za-z0-9_:/]*`' "$page" || true; } | tr -d '`' | sort -u)
done
((status)) || echo "$count equations"
exit "$status"
