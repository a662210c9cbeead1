#!/usr/bin/env bash
# Checks all text files: no absolute paths of one machine, no dead links, no stray white space, no
# tables and pictures of results that are too large.
# usage: documents.sh [TREE]
set -euo pipefail
cd "${1:-.}"
status=0
complain() {
  printf '%s\n' "$1" >&2
  status=1
}

# Text files that are tracked or could be tracked; without a git checkout, all files of the tree.
list() {
  git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -type f -not -path './build/*' -not -path './out/*' -not -path './.git/*'
}
mapfile -t files < <(list | sed 's|^\./||' | xargs -r -d '\n' grep -sIl '' -- | sort)
((${#files[@]} > 0)) || complain "no file was found"

# refuse WHAT PATTERN: no line may match, except in test data and generated pictures.
refuse() {
  local found
  found=$(grep -nE -e "$2" -- "${files[@]}" | grep -vE '^(tests/data/|docs/results/[^:]*\.svg:)' | head -n 20 || true)
  [[ -z $found ]] || complain "$1:
$found"
}
without_code() { sed '/^```/,/^```/d' "$1"; }
# parts_of PAGE: the anchors of the headings of a page.
parts_of() {
  without_code "$1" | sed -nE 's/^#+ //p' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^[:alnum:]_ -]//g; s/ /-/g'
}
refuse "paths of one machine" '(^|[^[:alnum:]._/-])/(home|root|Users|work|mnt)/[[:alnum:]_.]'
refuse "merge markers" '^(<<<<<<<|>>>>>>>) '
refuse "white space at the end of a line" '[[:blank:]]+$'
refuse "carriage returns" $'\r$'

for file in "${files[@]}"; do
  [[ $file == tests/data/* || -z $(tail -c 1 "$file") ]] || complain "$file: no newline at the end"
  [[ $file == *.md ]] || continue
  # Links and pictures within the tree, outside of code: [text](path#part).
  while read -r link; do
    path=${link%%#*}
    [[ -z $path || -e $(dirname "$file")/$path ]] || complain "$file: dead link to $path"
    [[ $link == *#* && (-z $path || $path == *.md) ]] || continue
    page=$file
    [[ -z $path ]] || page=$(dirname "$file")/$path
    [[ ! -f $page ]] || parts_of "$page" | grep -qxF -e "${link#*#}" ||
      complain "$file: $page has no heading #${link#*#}"
  done < <(without_code "$file" | grep -oE '\]\([^) ]+' | sed -E 's/^\]\(//' |
    grep -vE '^[a-z]+:' || true)
  # The block after "<!-- source: PATH -->" equals that file; after "excerpt" it is a part of the file.
  while IFS=: read -r line what path; do
    block=$(awk -v from="$line" 'NR > from && /^```/ { if (inside) exit; inside = 1; next } inside' "$file")
    source=$(dirname "$file")/${path# }
    text=
    [[ ! -f $source ]] || text=$(<"$source")
    [[ -n $block && ($block == "$text" || ($what == excerpt && $text == *"$block"*)) ]] ||
      complain "$file:$line: the block differs from$path"
  done < <(grep -nE '^<!-- (source|excerpt): .* -->$' "$file" | sed -E 's/<!-- (.*) -->/\1/' || true)
  # Decks and tools mentioned in the text.
  while read -r name; do
    [[ -e $name ]] || complain "$file: $name does not exist"
  done < <(grep -oE '\b(inputs/[[:alnum:]_-]+\.toml|tools/[[:alnum:]_-]+)' "$file" | sort -u || true)
done
# Tables and pictures of results are part of every clone.
large=$(find docs/results -type f -size +150000c 2>/dev/null || true)
[[ -z $large ]] || complain "larger than 150 000 bytes; write fewer rows or digits:
$large"
# The table of inputs/README.md lists all decks; README.md stays short.
for deck in inputs/*.toml; do
  [[ ! -e $deck ]] || grep -qF "| \`$(basename "$deck" .toml)\` |" inputs/README.md ||
    complain "inputs/README.md does not list $deck"
done
[[ ! -e README.md ]] || (($(wc -l <README.md) <= 150)) || complain "README.md has more than 150 lines"
((status)) || echo "${#files[@]} files read"
exit "$status"
