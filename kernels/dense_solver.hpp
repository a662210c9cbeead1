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

/// Work space of push-forward Newmark.
struct NewmarkWork {
  double* q;      ///< laid out as x: positions at which forces are computed
  int* inactive;  ///< [replica]: not 0 if its accelerations are final
  int* unsolved;  ///< one number: active replicas
};

/// Solves for the accelerations of push-forward Newmark by corrections (TO 2.2). Each correction
/// computes all forces again, always in double precision.
class NewmarkSolver {
 public:
  explicit NewmarkSolver(const DeviceState& d);

  /// Solves for d.a, starting from the forces at x in d.f. The iteration starts from a = 0: the
  /// solution is a function of the positions only. A converged replica is not changed by further
  /// corrections; one that does not converge gets an acceleration of NaN. Synchronises the stream.
  /// @param counted whether to add the corrections to d.iterations
  void solve(const DeviceState& d, const ClusterSystem& system, bool m_site,
             const TileScratch& scratch, bool counted, cudaStream_t stream);

  /// The positions q = x + b h^2 a of the last solution, laid out as x.
  double* solution() const { return work_.q; }
  /// The state with solution() in place of x.
  DeviceState at_solution(DeviceState d) const {
    d.x = work_.q;
    return d;
  }

 private:
  DeviceArrays arrays_;
  NewmarkWork work_;
};

}  // namespace tarn::gpu
