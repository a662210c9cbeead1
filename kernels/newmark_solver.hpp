#pragma once

#include "kernels/device_buffer.hpp"
#include "kernels/launch.hpp"

namespace tarn::gpu {

/// Work space of push-forward Newmark.
struct NewmarkWork {
  double* q;      ///< laid out as x: where the forces are needed
  int* inactive;  ///< [replica]: not 0 where the accelerations stay as they are
  int* unsolved;  ///< one number: replicas that do not rest
};

/// The accelerations of push-forward Newmark by corrections (TO 2.2), each with all forces anew,
/// and in double precision always.
class NewmarkSolver {
 public:
  explicit NewmarkSolver(const DeviceState& d);

  /// From the forces at x, which lie in d.f, to d.a. Starts from a = 0, so that the solution is a
  /// function of the positions only; a replica that is solved is left alone from then on, and one
  /// that cannot be solved gets an acceleration that is not a number. Waits for the device.
  /// @param counted adds the corrections to d.iterations
  void solve(const DeviceState& d, const ClusterSystem& system, bool m_site,
             const TileScratch& scratch, bool counted, cudaStream_t stream);

  /// The positions q = x + b h^2 a of the last solution, laid out as x.
  double* solution() const { return work_.q; }
  /// The state with these in place of x.
  DeviceState at_solution(DeviceState d) const {
    d.x = work_.q;
    return d;
  }

 private:
  DeviceBuffer<double> q_;
  DeviceBuffer<int> inactive_, unsolved_;
  NewmarkWork work_{};
};

}  // namespace tarn::gpu
