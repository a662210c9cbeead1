#pragma once

#include <memory>
#include <string>

#include "kernels/device_buffer.hpp"
#include "kernels/launch.hpp"
#include "tarn/system.hpp"

struct cusolverDnContext;

namespace tarn::gpu {

/// Linear solves of Z&Ss with explicit matrices, by cuSOLVER in double precision: the 9x9 blocks of
/// all molecules in one batch, or the 9N x 9N matrices of the replicas one after another.
class DenseSolver {
 public:
  /// @throws DeviceError if cuSOLVER is unavailable; see cusolver_problem()
  DenseSolver(const DeviceState& d, const ClusterSystem& system, const IntegratorSpec& integrator,
              bool m_site, cudaStream_t stream);

  /// Solves for the accelerations at the positions and forces of d, into solution().
  void solve(const DeviceState& d, const ClusterSystem& system, cudaStream_t stream);
  const DenseWork& solution() const { return work_; }

 private:
  struct Destroy {
    void operator()(cusolverDnContext* handle) const noexcept;
  };

  std::unique_ptr<cusolverDnContext, Destroy> handle_;
  bool m_site_;
  DeviceArrays arrays_;
  DeviceBuffer<double> scratch_;
  int* solve_info_ = nullptr;
  double **matrix_of_ = nullptr, **right_of_ = nullptr;
  DenseWork work_{};
};

/// One line that says why cuSOLVER is unavailable; empty if it can be loaded.
std::string cusolver_problem();

}  // namespace tarn::gpu
