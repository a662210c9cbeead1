#include <cmath>

#include <Eigen/Core>

#include "kernels/cusolver_calls.hpp"

namespace {

using Columns = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstColumns = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

/// Element (row, column <= row) of the lower factor, where the named half has it.
template <class Matrix>
auto& element(Matrix& a, cublasFillMode_t half, int row, int column) {
  return half == CUBLAS_FILL_MODE_LOWER ? a(row, column) : a(column, row);
}

bool bad(cusolverDnHandle_t handle, int n, int lda) {
  return handle == nullptr || n < 0 || lda < n;
}

void factorise(cublasFillMode_t half, int n, double* data, int lda, double* work, int* info) {
  Columns a(data, n, n, Eigen::OuterStride<>(lda));
  *info = 0;
  for (int k = 0; k < n; ++k) {
    double pivot = element(a, half, k, k);
    for (int j = 0; j < k; ++j) pivot -= element(a, half, k, j) * element(a, half, k, j);
    if (!(pivot > 0.0)) {
      *info = k + 1;
      return;
    }
    element(a, half, k, k) = work[k] = std::sqrt(pivot);
    for (int i = k + 1; i < n; ++i) {
      double value = element(a, half, i, k);
      for (int j = 0; j < k; ++j) value -= element(a, half, i, j) * element(a, half, k, j);
      element(a, half, i, k) = value / work[k];
    }
  }
}

void solve(cublasFillMode_t half, int n, int columns, const double* data, int lda, double* b,
           int ldb, int* info) {
  const ConstColumns a(data, n, n, Eigen::OuterStride<>(lda));
  Columns x(b, n, columns, Eigen::OuterStride<>(ldb));
  if (half == CUBLAS_FILL_MODE_LOWER) {
    a.triangularView<Eigen::Lower>().solveInPlace(x);
    a.triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
  } else {
    a.triangularView<Eigen::Upper>().adjoint().solveInPlace(x);
    a.triangularView<Eigen::Upper>().solveInPlace(x);
  }
  *info = 0;
}

}  // namespace

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t, int n,
                                             double*, int lda, int* length) {
  if (bad(handle, n, lda)) return CUSOLVER_STATUS_INVALID_VALUE;
  *length = n;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrf(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                  double* data, int lda, double* work, int length, int* info) {
  if (bad(handle, n, lda) || length < n) return CUSOLVER_STATUS_INVALID_VALUE;
  tarn::emulated::put(handle->stream, [=] { factorise(half, n, data, lda, work, info); });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrs(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                  int columns, const double* data, int lda, double* b, int ldb,
                                  int* info) {
  if (bad(handle, n, lda) || ldb < n) return CUSOLVER_STATUS_INVALID_VALUE;
  tarn::emulated::put(handle->stream, [=] { solve(half, n, columns, data, lda, b, ldb, info); });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                         double* a[], int lda, int* infos, int count) {
  if (bad(handle, n, lda) || count > 65535) return CUSOLVER_STATUS_INVALID_VALUE;
  tarn::emulated::put(handle->stream, [=] {
    Eigen::VectorXd work(n);
    for (int k = 0; k < count; ++k) factorise(half, n, a[k], lda, work.data(), infos + k);
  });
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDpotrsBatched(cusolverDnHandle_t handle, cublasFillMode_t half, int n,
                                         int columns, double* a[], int lda, double* b[], int ldb,
                                         int* info, int count) {
  if (bad(handle, n, lda) || ldb < n) return CUSOLVER_STATUS_INVALID_VALUE;
  if (columns != 1 || count > 65535)
    return CUSOLVER_STATUS_INVALID_VALUE;  // cuSOLVER takes one only
  tarn::emulated::put(handle->stream, [=] {
    for (int k = 0; k < count; ++k) solve(half, n, 1, a[k], lda, b[k], ldb, info);
  });
  return CUSOLVER_STATUS_SUCCESS;
}

namespace tarn::gpu {

const CusolverCalls& cusolver_calls() {
  static const CusolverCalls calls{cusolverDnCreate,        cusolverDnDestroy,
                                   cusolverDnSetStream,     cusolverDnDpotrfBatched,
                                   cusolverDnDpotrsBatched, cusolverDnDpotrf_bufferSize,
                                   cusolverDnDpotrf,        cusolverDnDpotrs};
  return calls;
}

}  // namespace tarn::gpu
