#pragma once

/// @file
/// Functions for each instruction set of vectors, selected when the program is loaded. Because no
/// multiplications and additions are fused, all have the same results.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TARN_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TARN_VECTOR_CLONES
#endif
