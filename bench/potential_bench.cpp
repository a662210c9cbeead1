#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <benchmark/benchmark.h>

#include "bench/bench_start.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/potential.hpp"

/// @file
/// Steps of heptamers whose Potential does nothing, on one thread: the overhead of a Potential.
///
/// `per_image` is the time of a step divided by the number of images, replicas times beads. The
/// step itself is included: integration, noise and checks of the molecules.

namespace {

using namespace tarn;

class NoForces final : public Potential {
 public:
  void compute(std::span<const double> /*positions_A*/, std::span<const std::int64_t> /*ids*/,
               std::span<double> energies, std::span<double> forces) override {
    std::ranges::fill(energies, 0.0);
    std::ranges::fill(forces, 0.0);
  }
  std::string name() const override { return "no forces"; }
};

/// @param state replicas and beads
void potential_overhead(benchmark::State& state) {
  const auto replicas = static_cast<int>(state.range(0)), beads = static_cast<int>(state.range(1));
  const bench::Case c{"",
                      7,
                      replicas,
                      Scheme::verlet,
                      Precision::double_,
                      Thermostat::baoab,
                      Solver::structured,
                      "qtip4pf",
                      beads};
  const auto engine = make_cpu_engine(bench::bench_system(c), bench::bench_start(c),
                                      PairCountRequest{}, 1, "", std::make_shared<NoForces>());
  constexpr int kSteps = 20;
  for (auto _ : state) engine->advance(kSteps);
  const double images = static_cast<double>(replicas) * beads;
  state.counters["per_image"] =
      benchmark::Counter(kSteps * static_cast<double>(state.iterations()) * images,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (!engine->blow_ups().empty()) state.SkipWithError("a replica blew up");
}
BENCHMARK(potential_overhead)
    ->ArgNames({"replicas", "beads"})
    ->Args({64, 1})
    ->Args({1000, 1})
    ->Args({2, 32});

}  // namespace
