#pragma once

/// @file
/// Portability macros.
///
/// TARN_HD marks a function that runs on the host and in CUDA kernels.
/// TARN_ARCH names the inline namespace of all code that is compiled once per instruction set
/// (packs and physics), so that the linker never mixes code for different processors.

#if defined(__CUDACC__)
#define TARN_HD __host__ __device__ __forceinline__
#else
#define TARN_HD inline __attribute__((always_inline))
#endif

/// Written after the parameters of a lambda to force its inlining.
#if defined(__CUDACC__)
#define TARN_INLINE_LAMBDA
#else
#define TARN_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// Unrolls the following loop; nvcc unrolls loops with a constant count anyway.
#if defined(__CUDACC__)
#define TARN_UNROLL(n)
#else
#define TARN_PRAGMA(text) _Pragma(#text)
#define TARN_UNROLL(n) TARN_PRAGMA(GCC unroll n)
#endif

#if !defined(TARN_ARCH)
#define TARN_ARCH portable
#endif
