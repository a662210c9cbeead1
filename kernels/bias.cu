#include "physics/bias.hpp"

#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"

namespace tarn::gpu {
namespace {

constexpr int kThreads = 32;

/// A warp per replica. All threads compute the coordinate; each has the forces on every 32nd
/// molecule.
__global__ void __launch_bounds__(kThreads)
    bias_kernel(DeviceState d, Biases biases, double* pushes, DeviceState beads) {
  const std::int64_t replica = blockIdx.x;
  if (d.stopped[replica] != 0) return;
  const int n = d.molecules, thread = static_cast<int>(threadIdx.x);
  // The first mode of a ring polymer is its centroid times sqrt(P).
  const double root = sqrt(static_cast<double>(d.copies));
  double* const own = pushes + 3 * replica * n;
  for (int k = thread; k < n; k += kThreads) store_vector(Vec3<double>{}, own, 1, 3 * k);
  for (int b = 0; b < biases.count; ++b) {
    bias_forces(
        biases.terms[b], n, d.bias_centres[b * d.replicas + replica],
        [&](int k) {
          return 1.0 / root * load_vector<double>(d.x, d.slots, mode_slot(d, replica, 0, k));
        },
        [&](int k, const Vec3<double>& push) {
          if (k % kThreads != thread) return;
          store_vector(load_vector<double>(own, 1, 3 * k) + push, own, 1, 3 * k);
        });
  }
  if (d.copies == 1) return;
  // The same force on each bead is one on the centroid only.
  for (int k = thread; k < n; k += kThreads) {
    const Vec3<double> push = load_vector<double>(own, 1, 3 * k);
    for (int bead = 0; bead < d.copies; ++bead) {
      const std::int64_t slot = slot_of(replica * d.copies + bead, k, n, beads.per_warp);
      store_vector(load_vector<double>(beads.f, beads.slots, slot) + push, beads.f, beads.slots,
                   slot);
    }
  }
}

}  // namespace

void launch_biases(const DeviceState& d, const Biases& biases, double* pushes,
                   const DeviceState& beads, cudaStream_t stream) {
  launch_kernel(bias_kernel, static_cast<unsigned>(d.replicas), kThreads, 0, stream, d, biases,
                pushes, beads);
}

}  // namespace tarn::gpu
