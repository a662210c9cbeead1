#!/usr/bin/env bash
# Checks bench/peers as far as that goes without the peers. usage: peers.sh TARN [PYTHON]
# Exit status 77 is a skip: NumPy is missing.
set -euo pipefail
[[ -z ${2:-} ]] || PATH=$(dirname "$2"):$PATH
python3 -c 'import numpy, tomllib' 2>/dev/null || {
  echo "skipped: there is no python3 of version 3.11 with NumPy"
  exit 77
}
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/peers.py" "$1"
