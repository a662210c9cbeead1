#!/usr/bin/env bash
# Checks that an object built for one instruction set defines no symbol that the linker could use
# instead of the same symbol built for another one. The program must run on every processor.
# usage: arch_symbols.sh NM OBJECT...
#
# Every external symbol of kernels_<arch>.cpp.o must contain the name of its instruction set: the inline
# namespace of tarn ("4avx2", "6avx512") or, for tables only, the variable name ("kKernels_avx512").
set -euo pipefail
nm=$1
shift
status=0
checked=0
for object in "$@"; do
  [[ $object =~ /kernels_(avx2|avx512)\.cpp\.o(bj)?$ ]] || continue
  arch=${BASH_REMATCH[1]}
  checked=$((checked + 1))
  # Local to the compiler: pointers to run-time support that hold the same value in every object.
  symbols=$("$nm" --defined-only --extern-only --format=posix "$object" |
    awk '$1 !~ /^(DW\.ref|__odr_asan)\./ {print $1}')
  foreign=$(grep -v "${#arch}$arch" <<<"$symbols" || true)
  others=$(grep "$arch" <<<"$foreign" | grep -v "kKernels_$arch" || true)
  mixed=$(grep -v "$arch" <<<"$foreign" | grep -v '^$' || true)
  if [[ -n $mixed ]]; then
    echo "$object: symbols that another instruction set may also define:"
    c++filt <<<"$mixed" | sed 's/^/  /'
    status=1
  fi
  if [[ -n $others ]]; then
    echo "$object: symbols outside of namespace $arch that are not tables of kernels:"
    c++filt <<<"$others" | sed 's/^/  /'
    status=1
  fi
done
echo "$checked objects checked"
((checked > 0)) || status=1
exit "$status"
