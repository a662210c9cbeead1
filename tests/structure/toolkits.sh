#!/usr/bin/env bash
# Checks the messages of CMake about CUDA toolkits that are too old, broken or missing, with mock
# compilers.
set -euo pipefail
box=$(mktemp -d)
trap 'rm -rf "$box"' EXIT

# configure: prints the messages of cmake/cuda.cmake for the compiler $box/nvcc.
configure() {
  CUDACXX=$box/nvcc cmake -DTARN_CUDA="$1" -P cmake/cuda.cmake 2>&1 | tr -s ' \n' ' '
}
nvcc_says() {
  printf '#!/bin/sh\necho "%s"\n' "$1" >"$box/nvcc"
  chmod +x "$box/nvcc"
}
expect() {
  local words
  words=$(configure ON || true)
  for part in "$@"; do
    [[ $words == *"$part"* ]] || {
      echo "expected '$part', found: $words"
      exit 1
    }
  done
  [[ -z $(configure AUTO) ]] || {
    echo "without TARN_CUDA=ON the message must appear in the summary only"
    exit 1
  }
}

expect "no CUDA compiler (nvcc) was found" "Install the CUDA toolkit 12 or newer" "-DTARN_CUDA=OFF"
nvcc_says "Cuda compilation tools, release 11.8, V11.8.89"
expect "is CUDA 11.8 and tarn needs 12 or newer" "Install a newer CUDA toolkit" "-DTARN_CUDA=OFF"
nvcc_says "what?"
expect "prints no version" "12 or newer"
echo "each toolkit has its message"
