#!/usr/bin/env bash
# Checks how tools/setup installs packages, with mock versions of dpkg-query, apt-get and sudo. It does
# not read or change the packages of this machine.
set -euo pipefail
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT
mkdir "$box/bin"

cat >"$box/bin/dpkg-query" <<'FAKE'
#!/usr/bin/env bash
# All packages are installed except those in the file "missing".
grep -qx "${!#}" "$BOX/missing" && exit 1
echo "install ok installed"
FAKE
cat >"$box/bin/apt-get" <<'FAKE'
#!/usr/bin/env bash
echo "$*" >>"$BOX/apt.log"
[[ " $* " == *" install "* ]] || exit 0
[[ -e $BOX/refuse ]] && exit 100
: >"$BOX/missing"
FAKE
printf '#!/usr/bin/env bash\n"$@"\n' >"$box/bin/sudo"
chmod +x "$box/bin/"*

# run_setup: output in $box/out, status in $status.
run_setup() {
  : >"$box/apt.log"
  status=0
  BOX=$box PATH=$box/bin:$PATH tools/setup "$@" >"$box/out" 2>&1 || status=$?
}
expect() {
  eval "$2" || {
    echo "$1: expected $2; status $status, apt-get called with:"
    cat "$box/apt.log" "$box/out"
    exit 1
  }
}

: >"$box/missing"
run_setup
expect "all installed" '((status == 0)) && [[ ! -s $box/apt.log ]]'

printf 'libfmt-dev\nninja-build\n' >"$box/missing"
run_setup --check
expect "--check" '((status == 1)) && [[ ! -s $box/apt.log ]] && grep -q libfmt-dev "$box/out"'

run_setup
expect "two missing" '((status == 0)) && grep -q "install.* ninja-build libfmt-dev$" "$box/apt.log"'
run_setup
expect "twice" '((status == 0)) && [[ ! -s $box/apt.log ]]'

echo libfmt-dev >"$box/missing"
touch "$box/refuse"
run_setup
expect "apt-get fails" '((status != 0)) && grep -q "libfmt-dev" "$box/out" && grep -qi debian "$box/out"'
echo "tools/setup works"
