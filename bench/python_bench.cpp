#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tarn/cluster_forces.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/ensemble.hpp"
#include "tarn/start.hpp"

/// @file
/// What bench/python_speed compares the Python package with: the same calls from C++, on one
/// thread.

namespace {

using namespace tarn;

Deck heptamers(int replicas) {
  return parse_deck(
      "[system]\nmodel = \"tip3p\"\nmolecules = 7\nstart = \"random\"\nreplicas = " +
          std::to_string(replicas) +
          "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 0.5\n[run]\nsteps = 0\n",
      "heptamers.toml");
}

/// advance(1) of one heptamer.
void one_step(benchmark::State& state) {
  Ensemble ensemble(heptamers(1), {"cpu", 1});
  for (auto _ : state) ensemble.advance(1);
}

/// Energies and forces of many heptamers, as Python calls it.
void cluster_forces(benchmark::State& state) {
  const auto clusters = static_cast<int>(state.range(0));
  const WaterModel model = *find_water_model("tip3p");
  std::vector<double> positions;
  for (int r = 0; r < clusters; ++r) {
    const std::vector<double> one = random_cluster(model, 7, 1, r);
    positions.insert(positions.end(), one.begin(), one.end());
  }
  ClusterForces forces(model, 7, {"cpu", 1});
  for (auto _ : state) {
    // As in Python, the results are new arrays.
    std::vector<double> energies(static_cast<std::size_t>(clusters)), f(positions.size());
    forces.compute(positions, energies, f);
    benchmark::DoNotOptimize(f.data());
  }
}

/// The engine's own time for the forces and energies of many heptamers: one step, and a snapshot of
/// the energies.
void engine_forces(benchmark::State& state) {
  Ensemble ensemble(heptamers(static_cast<int>(state.range(0))), {"cpu", 1});
  Frame frame;
  for (auto _ : state) {
    ensemble.advance(1);
    ensemble.snapshot(kEnergies, frame);
  }
}

BENCHMARK(one_step);
BENCHMARK(cluster_forces)->ArgName("clusters")->Arg(1)->Arg(10'000);
BENCHMARK(engine_forces)->ArgName("clusters")->Arg(10'000);

}  // namespace
