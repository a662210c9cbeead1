#!/usr/bin/env bash
# Checks the machine code of the pair loops of the warp path: with few warps per scheduler, the
# estimates of the reciprocal roots of a pair must overlap, so that they may not be far apart.
# Limits are in instructions from the first to the last one, 10 % above those of nvcc 13.0.
# usage: root_spans.sh BUILD
#
# Skipped without code for sm_90, or without cuobjdump and nvdisasm of the CUDA toolkit (also Python
# packages: nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm).
set -euo pipefail
object=$1/kernels/CMakeFiles/tarn_kernels.dir/warp_path.cu.o
for needed in cuobjdump nvdisasm; do
  type -P "$needed" >/dev/null || {
    echo "skipped: no $needed"
    exit 77
  }
done
code=$(cuobjdump -sass -arch sm_90 "$object" 2>/dev/null) || {
  echo "skipped: this build has no code for sm_90"
  exit 77
}
awk '
  BEGIN {
    limit["dd0"] = 127; limit["dd1"] = 184; limit["df0"] = 113; limit["df1"] = 133
    limit["ff0"] = 100; limit["ff1"] = 136
  }
  function value(hex, n, i) {
    for (i = 3; i <= length(hex); ++i) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return n
  }
  # advance_warps_kernel<S, R, m_site, ...>
  /Function :/ {
    kind = match($0, /advance_warps_kernelI[df][df]Lb[01]/) ? substr($0, RSTART + 21, 5) : ""
    sub("Lb", "", kind)
    delete root
  }
  kind == "" || !/^ *\/\*[0-9a-f]+\*\// { next }
  {
    at = value("0x" substr($1, 3, length($1) - 4)) / 16
    root[at] = /MUFU\.RSQ/
  }
  # Loops end with a branch to a smaller address.
  / BRA/ && match($0, /0x[0-9a-f]+/) {
    to = value(substr($0, RSTART, RLENGTH)) / 16
    if (to > at || at - to > 400) next
    first = roots = last = 0
    for (k = to; k <= at; ++k) {
      if (!root[k]) continue
      if (roots++ == 0) first = k
      last = k
    }
    if (roots < 9) next
    ++loops
    if (last - first > limit[kind]) {
      print kind ": roots over " last - first " instructions, more than " limit[kind]
      bad = 1
    }
  }
  END {
    if (loops != 24) { print loops + 0 " pair loops were found instead of 24"; bad = 1 }
    if (!bad) print "the roots of " loops " pair loops are close to each other"
    exit bad
  }' <<<"$code"
