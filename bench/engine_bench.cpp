#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "tarn/core/units.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

/// @file
/// Steps of the CPU engine on one thread, by instruction set, scheme and precision.
///
/// `ns_per_pair` is the time of a whole step divided by the number of molecule pairs;
/// `cluster_steps_per_s` counts every replica.

namespace {

using namespace tarn;

struct Case {
  const char* name;
  int molecules;
  int replicas;
  Scheme scheme;
  Precision precision;
  bool thermostat;
};

/// A random start at rest is enough: the work of a step does not depend on the positions.
State start_state(const Case& c, const WaterModel& model) {
  State state;
  state.molecules = c.molecules;
  const std::vector<double> x = random_cluster(model, c.molecules, 1, 0);
  for (int r = 0; r < c.replicas; ++r) {
    state.replica_ids.push_back(r);
    state.positions_A.insert(state.positions_A.end(), x.begin(), x.end());
  }
  state.velocities_A_per_akma.assign(state.positions_A.size(), 0.0);
  return state;
}

void run_case(benchmark::State& bench, const Case& c, const std::string& instruction_set) {
  System system;
  system.model = kWaterModels[0];
  system.molecules = c.molecules;
  system.integrator.scheme = c.scheme;
  system.integrator.timestep_akma = units::akma_from_fs(0.5);
  system.precision = c.precision;
  if (c.thermostat) {
    system.thermostat.kind = Thermostat::gla;
    system.thermostat.temperature_K = 10.0;
    system.thermostat.friction_oxygen_per_akma = units::per_akma_from_per_ps(50.0);
    system.thermostat.friction_hydrogen_per_akma = units::per_akma_from_per_ps(50.0);
  }
  const auto engine =
      make_cpu_engine(system, start_state(c, system.model), PairCountRequest{}, 1, instruction_set);
  const double pairs = 0.5 * c.molecules * (c.molecules - 1);
  const std::int64_t steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(2e5 / (pairs * c.replicas + 1.0)));
  engine->advance(steps);
  for (auto _ : bench) engine->advance(steps);
  const double done = static_cast<double>(steps) * static_cast<double>(bench.iterations());
  bench.counters["cluster_steps_per_s"] =
      benchmark::Counter(done * c.replicas, benchmark::Counter::kIsRate);
  bench.counters["ns_per_pair"] = benchmark::Counter(
      done * c.replicas * pairs * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (!engine->blow_ups().empty()) bench.SkipWithError("a replica blew up");
}

}  // namespace

int main(int argc, char** argv) {
  using enum Precision;
  const std::vector<Case> cases{
      {"zss_gla/double", 7, 64, Scheme::zss_stiff, double_, true},
      {"zss_gla/mixed", 7, 64, Scheme::zss_stiff, mixed, true},
      {"settle_gla/double", 7, 64, Scheme::settle, double_, true},
      {"shake_gla/double", 7, 64, Scheme::shake, double_, true},
      {"zss_gla/double", 7, 1, Scheme::zss_stiff, double_, true},
      {"zss_gla/double", 32, 1, Scheme::zss_stiff, double_, true},
      {"zss_gla/mixed", 32, 1, Scheme::zss_stiff, mixed, true},
      {"zss_gla/double", 100, 1, Scheme::zss_stiff, double_, true},
      {"zss_gla/mixed", 100, 1, Scheme::zss_stiff, mixed, true},
      {"zss_gla/double", 216, 1, Scheme::zss_stiff, double_, true},
      {"zss_gla/mixed", 216, 1, Scheme::zss_stiff, mixed, true},
      {"zss_gla/double", 1000, 1, Scheme::zss_stiff, double_, true},
      {"zss_gla/mixed", 1000, 1, Scheme::zss_stiff, mixed, true},
  };
  for (const std::string& set : cpu_instruction_sets()) {
    for (const Case& c : cases) {
      const std::string name = set + "/" + c.name + "/N:" + std::to_string(c.molecules) +
                               "/replicas:" + std::to_string(c.replicas);
      benchmark::RegisterBenchmark(name.c_str(),
                                   [c, set](benchmark::State& bench) { run_case(bench, c, set); });
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
