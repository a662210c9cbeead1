#pragma once

#include <cuda_runtime.h>

/// @file
/// An emulation on the CPU of the part of cuSOLVER that kernels/ uses: Cholesky factorisations of
/// column-major matrices. Only the named triangle is read or written.

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3
};
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
using cusolverDnHandle_t = cusolverDnContext*;

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t half,
                                             int n, double* a, int lda, int* length);
/// @param info out: k + 1 if the k-th pivot is not positive, else 0
cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                  double* a, int lda, double* work, int length, int* info);
cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                  int columns, const double* a, int lda, double* b, int ldb,
                                  int* info);
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                         double* a[], int lda, int* infos, int count);
cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                         int columns, double* a[], int lda, double* b[], int ldb,
                                         int* info, int count);
