#!/usr/bin/env bash
# Runs every sh block of README.md, CONTRIBUTING.md and docs, in a scratch copy of the tree.
# usage: document_commands.sh TARN [TREE]
# A comment on the line before a block changes this: "<!-- test: ARGUMENTS -->" adds the arguments to each
# `tarn run` and `tarn compare` of the block, "<!-- test: not run, REASON -->" skips the block, and
# "<!-- test: shows PATTERN -->" requires a printed line that matches the extended regular expression,
# "<!-- test: needs COMMAND -->" skips the block where there is no such command.
set -euo pipefail
tarn=$(realpath "$1")
cd "${2:-.}"
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# A copy of the source tree with the program under test as build/release/bin/tarn.
mkdir -p "$box/tree/build/release/bin"
cp -r README.md CONTRIBUTING.md docs tools "$box/tree/"
[[ ! -d inputs ]] || cp -r inputs "$box/tree/"
cat >"$box/tree/build/release/bin/tarn" <<FAKE
#!/usr/bin/env bash
case \${1:-} in
  run | compare) exec "$tarn" "\$@" \$TEST_ARGUMENTS ;;
  *) exec "$tarn" "\$@" ;;
esac
FAKE
chmod +x "$box/tree/build/release/bin/tarn"
export PATH=$PATH:$box/tree/build/release/bin
# Open MPI runs as root, and with more ranks than processors, only if asked to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

blocks=0 left_out=0 status=0
while read -r document; do
  # Each block becomes a file "N.sh", with its comment in "N.how".
  rm -rf "$box/blocks" "$box/tree/out"
  mkdir "$box/blocks"
  awk -v out="$box/blocks/" '
    /^```sh *$/ { name = sprintf("%s%03d", out, ++n); print how > (name ".how"); inside = 1
                  printf "" > (name ".sh"); next }
    /^```/ { inside = 0 }
    inside { print > (name ".sh"); next }
    { how = ($0 ~ /^<!-- test: .* -->$/) ? substr($0, 12, length($0) - 15) : "" }' "$document"
  for block in "$box"/blocks/*.sh; do
    [[ -e $block ]] || continue
    how=$(<"${block%.sh}.how")
    if [[ $how == "not run"* ]]; then
      [[ $how == "not run, "?* ]] || {
        echo "$document: a skipped block has no reason" >&2
        status=1
      }
      left_out=$((left_out + 1))
      continue
    fi
    if [[ $how == "needs "* ]] && ! command -v "${how#needs }" >/dev/null; then
      left_out=$((left_out + 1))
      continue
    fi
    blocks=$((blocks + 1))
    pattern=
    if [[ $how == "shows "* ]]; then
      pattern=${how#shows } how=
    elif [[ $how == "needs "* ]]; then
      how=
    fi
    (cd "$box/tree" && TEST_ARGUMENTS=$how bash -euo pipefail "$block" >"$box/log" 2>&1 </dev/null) || {
      printf '%s: this block fails:\n%s\nOutput:\n%s\n' "$document" "$(<"$block")" \
        "$(tail -n 20 "$box/log")" >&2
      status=1
    }
    [[ -z $pattern ]] || grep -qE -- "$pattern" "$box/log" || {
      printf '%s: this block prints no line that matches %s:\n%s\nOutput:\n%s\n' "$document" "$pattern" \
        "$(<"$block")" "$(tail -n 20 "$box/log")" >&2
      status=1
    }
  done
done < <(find README.md CONTRIBUTING.md docs -name '*.md' | sort)
((blocks > 0)) || {
  echo "no block was found" >&2
  status=1
}
echo "$blocks blocks run, $left_out skipped"
exit "$status"
