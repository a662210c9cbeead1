#include "bench/molecule_solves.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/bench_system.hpp"
#include "bench/gpu_timer.hpp"
#include "kernels/dense_solver.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/layout.hpp"
#include "tarn/start.hpp"

namespace tarn::bench {
namespace {

using namespace gpu;

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    structured_solves_kernel(DeviceState d, StepParameters step) {
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (slot >= d.slots) return;
  store_triple(zss_acceleration(load_triple(d.x, d.slots, slot), load_triple(d.f, d.slots, slot),
                                step.bonds, step.masses, step.zss),
               d.a, d.slots, slot);
}

}  // namespace

/// Molecules of a random cluster, each in a separate replica, with forces of a few kcal/mol/A.
struct MoleculeSolves::Impl {
  System system;
  ClusterSystem cluster{};
  std::vector<double> x, f;  // [coordinate][molecule]
  DeviceBuffer<double> d_x, d_f, d_a;
  DeviceState state{};
  GpuTimer timer;
  std::unique_ptr<DenseSolver> dense;

  Impl(int molecules, bool use_cusolver) {
    const Case shape{"", 16, 1, Scheme::zss_stiff, Precision::double_, Thermostat::none};
    system = bench_system(shape);
    system.integrator.solver = use_cusolver ? Solver::dense : Solver::structured;
    const std::vector<double> from = random_cluster(system.model, shape.molecules, 1, 0);
    const std::size_t n = static_cast<std::size_t>(molecules);
    for (std::size_t c = 0; c < 9; ++c) {
      for (std::size_t m = 0; m < n; ++m) {
        x.push_back(from[m % 16 * 9 + c]);
        f.push_back(10.0 * std::sin(0.1 * static_cast<double>(m % 1000) + static_cast<double>(c)));
      }
    }
    d_x = DeviceBuffer<double>(x);
    d_f = DeviceBuffer<double>(f);
    d_a = DeviceBuffer<double>(x.size(), 0);
    state.slots = state.replicas = molecules;
    state.molecules = 1;
    state.x = d_x.get();
    state.f = d_f.get();
    state.a = d_a.get();
    cluster.step = step_parameters(system);
    cluster.pair = pair_parameters<double>(system.model);
    cluster.molecules = 1;
    if (use_cusolver) {
      dense = std::make_unique<DenseSolver>(state, cluster, system.integrator,
                                            system.model.has_m_site(), timer.stream());
    }
    wait_for_copies();
  }
  void solve() {
    if (dense) {
      dense->solve(state, cluster, timer.stream());
      return;
    }
    launch_kernel(structured_solves_kernel,
                  static_cast<unsigned>((state.slots + kThreads - 1) / kThreads), kThreads, 0,
                  timer.stream(), state, cluster.step);
  }
  /// Accelerations, [coordinate][molecule].
  std::vector<double> accelerations() const {
    if (!dense) return d_a.download();
    std::vector<double> right(static_cast<std::size_t>(dense_rights(state.slots, 1, false)));
    cuda_check(cudaMemcpy(right.data(), dense->solution().right, right.size() * sizeof(double),
                          cudaMemcpyDeviceToHost));
    const std::size_t n = x.size() / 9;
    std::vector<double> a(x.size());
    for (std::size_t m = 0; m < n; ++m) {
      const auto first =
          static_cast<std::size_t>(dense_right(static_cast<std::int64_t>(m), 1, false));
      for (std::size_t c = 0; c < 9; ++c) a[c * n + m] = right[first + c];
    }
    return a;
  }
};

MoleculeSolves::MoleculeSolves(int molecules, bool dense)
    : impl_(std::make_unique<Impl>(molecules, dense)) {}
MoleculeSolves::~MoleculeSolves() = default;

double MoleculeSolves::seconds(int repeats) {
  return impl_->timer.seconds([&] {
    for (int k = 0; k < repeats; ++k) impl_->solve();
  });
}

double MoleculeSolves::error() const {
  const std::vector<double> found = impl_->accelerations();
  const std::size_t n = found.size() / 9;
  const auto molecule = [&](const std::vector<double>& c, std::size_t m) -> Triple<double> {
    const auto at = [&](std::size_t k) { return c[k * n + m]; };
    return {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}, {at(6), at(7), at(8)}};
  };
  double difference = 0.0, size = 0.0;
  for (std::size_t m = 0; m < n; ++m) {
    const StepParameters& s = impl_->cluster.step;
    const Triple<double> a =
        zss_acceleration(molecule(impl_->x, m), molecule(impl_->f, m), s.bonds, s.masses, s.zss);
    difference += weighted_norm2(1.0, 1.0, molecule(found, m) - a);
    size += weighted_norm2(1.0, 1.0, a);
  }
  return std::sqrt(difference / size);
}

}  // namespace tarn::bench
