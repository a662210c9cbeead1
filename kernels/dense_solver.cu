#include "kernels/dense_solver.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cusolver_calls.hpp"
#include "kernels/layout.hpp"

namespace tarn::gpu {
namespace {

constexpr cublasFillMode_t kLower = CUBLAS_FILL_MODE_LOWER;

std::vector<double*> every(double* first, std::int64_t stride, std::int64_t count) {
  std::vector<double*> pointers;
  for (std::int64_t k = 0; k < count; ++k) pointers.push_back(first + k * stride);
  return pointers;
}

}  // namespace

void DenseSolver::Destroy::operator()(cusolverDnContext* handle) const noexcept {
  cusolver_calls().destroy(handle);
}

DenseSolver::DenseSolver(const DeviceState& d, const ClusterSystem& system,
                         const IntegratorSpec& integrator, bool m_site, cudaStream_t stream)
    : m_site_(m_site) {
  cusolverDnHandle_t handle = nullptr;
  cusolver_check(cusolver_calls().create(&handle));
  handle_.reset(handle);
  cusolver_check(cusolver_calls().set_stream(handle, stream));
  const bool total = integrator.hessian == Hessian::total;
  const int size = dense_size(system.molecules, total);
  const std::int64_t together = total ? 1 : d.slots;  // matrices in memory at the same time
  const std::int64_t elements = dense_stride(static_cast<std::int64_t>(size) * size);
  work_ = {arrays_.make<double>(static_cast<std::size_t>(together * elements)),
           arrays_.make<double>(
               static_cast<std::size_t>(dense_rights(d.slots, system.molecules, total))),
           arrays_.make<int>(static_cast<std::size_t>(total ? d.replicas : d.slots), 0),
           integrator.hessian,
           integrator.omega,
           integrator.beta * integrator.timestep_akma * integrator.timestep_akma};
  solve_info_ = arrays_.make<int>(1, 0);
  if (total) {
    int length = 0;
    cusolver_check(
        cusolver_calls().buffer_size(handle, kLower, size, work_.matrices, size, &length));
    scratch_ = DeviceBuffer<double>(static_cast<std::size_t>(length));
  } else {
    matrix_of_ = arrays_.upload(every(work_.matrices, elements, together));
    right_of_ = arrays_.upload(every(work_.right, dense_stride(size), together));
  }
}

void DenseSolver::solve(const DeviceState& d, const ClusterSystem& system, cudaStream_t stream) {
  const CusolverCalls& call = cusolver_calls();
  cusolverDnHandle_t const handle = handle_.get();
  const bool total = work_.hessian == Hessian::total;
  const int size = dense_size(system.molecules, total);
  if (!total) {
    launch_dense_matrices(d, system, work_, m_site_, 0, d.slots, stream);
    for (std::int64_t first = 0; first < d.slots; first += kMostInBatch) {
      const int count = static_cast<int>(std::min(kMostInBatch, d.slots - first));
      double** const matrices = matrix_of_ + first;
      cusolver_check(
          call.factorise_batched(handle, kLower, size, matrices, size, work_.info + first, count));
      cusolver_check(call.solve_batched(handle, kLower, size, 1, matrices, size, right_of_ + first,
                                        size, solve_info_, count));
    }
    return;
  }
  for (std::int64_t r = 0; r < d.replicas; ++r) {
    launch_dense_matrices(d, system, work_, m_site_, r * d.molecules, d.molecules, stream);
    cusolver_check(call.factorise(handle, kLower, size, work_.matrices, size, scratch_.get(),
                                  static_cast<int>(scratch_.size()), work_.info + r));
    cusolver_check(call.solve(handle, kLower, size, 1, work_.matrices, size,
                              work_.right + r * dense_stride(size), size, solve_info_));
  }
}

std::string cusolver_problem() {
  try {
    cusolver_calls();
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

}  // namespace tarn::gpu
