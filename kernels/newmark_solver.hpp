#pragma once

#include "kernels/device_buffer.hpp"
#include "kernels/launch.hpp"

namespace tarn::gpu {

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
