#!/usr/bin/env bash
# Checks bench/peers as far as that goes without the peers. usage: peers.sh TARN
# Exit status 77 is a skip: the package python3 is missing.
set -euo pipefail
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/peers.py" "$1"
