#!/usr/bin/env bash
# Checks that replica ids are divided in tarn/core/replica_map.hpp only: a remainder written elsewhere
# may take the wrong list, and its error is silent.
# usage: replica_map.sh [TREE]
set -euo pipefail
cd "${1:-.}"
pattern='\b(id|ids|replica|replica_ids?|lower|upper)_?(\[[^]]*\])*\)* % [a-zA-Z(]'
if grep -rnE --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.cuh' \
  --exclude=replica_map.hpp --exclude=layout.hpp "$pattern" include src kernels; then
  echo "use sample_group() or ReplicaMap of tarn/core/replica_map.hpp" && exit 1
fi
