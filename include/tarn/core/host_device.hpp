#pragma once

/// @file
/// The only portability macros of the project.
///
/// TARN_HD marks a function that runs on the host and in CUDA kernels.
/// TARN_ARCH names the inline namespace of everything that is compiled once per instruction set
/// (packs and physics), so that the linker never mixes code built for different processors.

#if defined(__CUDACC__)
#define TARN_HD __host__ __device__ __forceinline__
#else
#define TARN_HD inline __attribute__((always_inline))
#endif

/// After the parameters of a lambda that belongs into the function around it.
#if defined(__CUDACC__)
#define TARN_INLINE_LAMBDA
#else
#define TARN_INLINE_LAMBDA __attribute__((always_inline))
#endif

/// Unrolls the loop that follows; nvcc does it by itself where the count is known.
#if defined(__CUDACC__)
#define TARN_UNROLL(n)
#else
#define TARN_PRAGMA(text) _Pragma(#text)
#define TARN_UNROLL(n) TARN_PRAGMA(GCC unroll n)
#endif

#if !defined(TARN_ARCH)
#define TARN_ARCH portable
#endif
