#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/units.hpp"
#include "tarn/start.hpp"

/// @file
/// Steps of the CUDA engine on the first device: thousands of small clusters, and one cluster of
/// growing size. Time is that of whole advances, launch and wait included.

namespace {

using namespace tarn;

struct Case {
  int molecules;
  int replicas;
  Precision precision;
};

/// Each replica starts from the same random cluster at rest; the noise tells them apart.
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

void run_case(benchmark::State& bench, const Case& c) {
  System system;
  system.model = kWaterModels[0];
  system.molecules = c.molecules;
  system.integrator.timestep_akma = units::akma_from_fs(0.5);
  system.precision = c.precision;
  system.thermostat.kind = Thermostat::gla;
  system.thermostat.temperature_K = 10.0;
  system.thermostat.friction_oxygen_per_akma = units::per_akma_from_per_ps(50.0);
  system.thermostat.friction_hydrogen_per_akma = units::per_akma_from_per_ps(50.0);
  const auto engine = make_cuda_engine(system, start_state(c, system.model), {}, 0);
  const double pairs = 0.5 * c.molecules * (c.molecules - 1);
  // Some ten milliseconds at 1e11 pairs a second, and enough steps to hide a launch.
  const auto steps =
      static_cast<std::int64_t>(std::min(1e5, std::max(50.0, 1e9 / (pairs * c.replicas + 1e4))));
  engine->advance(steps);
  for (auto _ : bench) {
    const auto begin = std::chrono::steady_clock::now();
    engine->advance(steps);
    bench.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const double done = static_cast<double>(steps) * static_cast<double>(bench.iterations());
  using benchmark::Counter;
  bench.counters["cluster_steps_per_s"] = Counter(done * c.replicas, Counter::kIsRate);
  bench.counters["pairs_per_s"] = Counter(done * c.replicas * pairs, Counter::kIsRate);
  if (!engine->blow_ups().empty()) bench.SkipWithError("a replica blew up");
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) {
    std::fprintf(stderr, "gpu_bench: nothing is measured: %s\n", probe.message.c_str());
    return 0;
  }
  benchmark::AddCustomContext("device", probe.devices.front().name);
  std::vector<Case> cases;
  for (Precision precision : {Precision::mixed, Precision::double_}) {
    for (int replicas : {1, 100, 10'000, 200'000}) cases.push_back({7, replicas, precision});
    for (int molecules : {32, 100, 216, 1000, 4000, 10'000, 20'000}) {
      cases.push_back({molecules, 1, precision});
    }
    cases.push_back({32, 10'000, precision});
    cases.push_back({100, 1'000, precision});
  }
  for (const Case& c : cases) {
    const std::string name =
        std::string("zss_gla/") + (c.precision == Precision::mixed ? "mixed" : "double") +
        "/N:" + std::to_string(c.molecules) + "/replicas:" + std::to_string(c.replicas);
    benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& bench) { run_case(bench, c); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
