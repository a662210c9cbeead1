#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/bench_start.hpp"
#include "bench/gpu_timer.hpp"
#include "bench/molecule_solves.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"
#include "tarn/minimise.hpp"
#include "tarn/start.hpp"

/// @file
/// Benchmarks of the CUDA engine on the first device: ensembles of small clusters, one cluster of
/// growing size, ring polymers, quenches on both devices, and the linear solves of molecules,
/// structured and by cuSOLVER.
/// CUDA events around whole advances measure the time, including launches and waiting.
///
/// `share_of_bound` is the time of the pairs alone, if each of their instructions were issued
/// without delay on all lanes at the highest clock of the device, divided by the time of a whole
/// step; see kernels/arithmetic_bound.hpp.

namespace {

using namespace tarn;
using bench::Case;
using benchmark::Counter;

/// The highest clock of the device, and its throughput per cycle.
struct Bound {
  ProbedDevice device;
  double clock_Hz = 0.0;
};

/// Time [s] of the pairs of these steps at the bound; 0 for an unknown device.
double bound_seconds(const Case& c, double steps, const Bound& bound) {
  const bool floats = c.precision != Precision::double_;
  const int lanes = gpu::lanes_of(bound.device.compute_capability, floats);
  if (lanes == 0) return 0.0;
  return gpu::bound_seconds(steps * bench::pairs_of(c) * c.replicas * c.beads,
                            gpu::instructions_of_pair(bench::bench_system(c).model.has_m_site()),
                            bound.device.multiprocessors, lanes, bound.clock_Hz);
}

/// Number of steps timed together: about 20 ms on any device, long enough to hide a launch and to
/// let the clock rise; on the tile path whole sequences of graphs, from one saved state to the
/// next.
/// @param seconds_of_few time of kFewSteps after all kernels were loaded [s]
constexpr std::int64_t kFewSteps = 64, kMostTimes = 10'000;
std::int64_t steps_to_time(double seconds_of_few) {
  const double times = 0.02 / std::max(seconds_of_few, 1e-6);
  return kFewSteps * std::clamp(static_cast<std::int64_t>(times), std::int64_t{1}, kMostTimes);
}

/// Whether the smallest number of steps of run_case() would take too long, as in double precision
/// on a device with few units for it.
bool is_hopeless(const Case& c, const Bound& bound) {
  constexpr double kMost_s = 5.0, kFewest = 4.0 * kFewSteps;
  return bound_seconds(c, kFewest, bound) > kMost_s;
}

bool all_measured = true;
void fail(benchmark::State& state, const char* why) {
  all_measured = false;
  state.SkipWithError(why);
}

void run_case(benchmark::State& state, const Case& c, const Bound& bound) {
  try {
    const auto engine = make_cuda_engine(bench::bench_system(c), bench::bench_start(c), {}, 0);
    gpu::GpuTimer timer;
    const double pairs = bench::pairs_of(c) * c.replicas * c.beads;
    // Kernels are loaded at their first use, and clocks rise under load.
    engine->advance(kFewSteps);
    const std::int64_t steps = steps_to_time(timer.seconds([&] { engine->advance(kFewSteps); }));
    engine->advance(steps);
    double seconds = 0.0;
    for (auto _ : state) {
      const double time = timer.seconds([&] { engine->advance(steps); });
      state.SetIterationTime(time);
      seconds += time;
    }
    const double done = static_cast<double>(steps) * static_cast<double>(state.iterations());
    state.counters["cluster_steps_per_s"] = Counter(done * c.replicas, Counter::kIsRate);
    state.counters["steps_per_s"] = Counter(done, Counter::kIsRate);
    if (c.beads > 1) {
      state.counters["bead_steps_per_s"] = Counter(done * c.replicas * c.beads, Counter::kIsRate);
    }
    state.counters["pairs_per_s"] = Counter(done * pairs, Counter::kIsRate);
    const double at_bound = bound_seconds(c, done, bound);
    if (at_bound > 0.0 && seconds > 0.0) state.counters["share_of_bound"] = at_bound / seconds;
    if (!engine->blow_ups().empty()) fail(state, "a replica blew up");
  } catch (const Error& error) {
    fail(state, error.what());
  }
}

/// Quenches of hot octamers; the time includes that of the saddle point checks on the CPU.
void run_quenches(benchmark::State& state, const std::string& device, int clusters) {
  try {
    const WaterModel model = *find_water_model("tip3p");
    std::vector<double> start;
    for (int r = 0; r < clusters; ++r) {
      const std::vector<double> x = random_cluster(model, 8, 1, r);
      start.insert(start.end(), x.begin(), x.end());
    }
    for (auto _ : state) {
      state.PauseTiming();
      std::vector<double> x = start;
      state.ResumeTiming();
      minimise_clusters(model, 8, x, {device});
    }
    state.counters["quenches_per_s"] = Counter(
        static_cast<double>(clusters) * static_cast<double>(state.iterations()), Counter::kIsRate);
  } catch (const Error& error) {
    fail(state, error.what());
  }
}

void run_solves(benchmark::State& state, int molecules, bool dense) {
  try {
    bench::MoleculeSolves solves(molecules, dense);
    constexpr int kRepeats = 20;
    solves.seconds(kRepeats);
    for (auto _ : state) state.SetIterationTime(solves.seconds(kRepeats));
    state.counters["solves_per_s"] =
        Counter(static_cast<double>(state.iterations()) * kRepeats * molecules, Counter::kIsRate);
    const double error = solves.error();
    state.counters["relative_error"] = error;
    if (!(error < 1e-12)) fail(state, "solutions differ from the host by more than 1e-12");
  } catch (const Error& error) {
    fail(state, error.what());
  }
}

void add_cases(const Bound& bound) {
  std::vector<Case> cases;
  const auto add = [&](Precision precision, int molecules, int replicas) {
    cases.push_back(
        {"zss_gla", molecules, replicas, Scheme::zss_stiff, precision, Thermostat::gla});
  };
  const auto add_tip4p = [&](Precision precision, int molecules, int replicas) {
    add(precision, molecules, replicas);
    cases.back().name = "zss_gla_tip4p";
    cases.back().model = "tip4p";
  };
  for (Precision precision : {Precision::mixed, Precision::double_}) {
    for (int replicas : {1, 10, 100, 1'000, 10'000, 50'000, 200'000}) add(precision, 7, replicas);
    for (int molecules : {32, 64, 100, 128, 216, 512, 1000, 2000, 4000, 10'000, 20'000}) {
      add(precision, molecules, 1);
    }
    // Three clusters of ten and five of six use 30 of the 32 lanes of a warp; four of seven use 28.
    add(precision, 10, 100'000);
    add(precision, 6, 200'000);
    add(precision, 32, 10'000);
    add(precision, 64, 4'000);
    add(precision, 100, 1'000);
    add(precision, 216, 1'000);
    add_tip4p(precision, 7, 200'000);
    add_tip4p(precision, 100, 1'000);
    add_tip4p(precision, 1000, 1);
  }
  // Flexible water beside the rigid model of the same form.
  for (Precision precision : {Precision::mixed, Precision::double_}) {
    for (const auto& [molecules, replicas] : {std::pair{7, 200'000}, {100, 1'000}, {1000, 1}}) {
      cases.push_back({"verlet_baoab_qtip4pf", molecules, replicas, Scheme::verlet, precision,
                       Thermostat::baoab, Solver::structured, "qtip4pf"});
      cases.push_back({"zss_gla_qtip4pf", molecules, replicas, Scheme::zss_stiff, precision,
                       Thermostat::gla, Solver::structured, "qtip4pf"});
      cases.push_back({"settle_baoab_tip4p2005", molecules, replicas, Scheme::settle, precision,
                       Thermostat::baoab, Solver::structured, "tip4p2005"});
    }
  }
  // Ring polymers: alone and many, in blocks and in memory.
  for (Precision precision : {Precision::mixed, Precision::double_}) {
    for (const auto& [molecules, beads, replicas] : {std::tuple{7, 32, 1},
                                                     {7, 32, 100},
                                                     {7, 32, 1'000},
                                                     {7, 32, 10'000},
                                                     {1, 16, 50'000},
                                                     {7, 64, 1},
                                                     {7, 64, 1'000},
                                                     {7, 128, 1},
                                                     {7, 128, 500},
                                                     {7, 1024, 1},
                                                     {32, 32, 100},
                                                     {100, 32, 1}}) {
      cases.push_back({"rings_baoab_qtip4pf", molecules, replicas, Scheme::verlet, precision,
                       Thermostat::baoab, Solver::structured, "qtip4pf", beads});
    }
  }
  for (int molecules : {7, 32, 100, 1000}) add(Precision::single, molecules, 1);
  add(Precision::single, 7, 200'000);
  add(Precision::single, 10, 100'000);
  add(Precision::single, 32, 10'000);
  add(Precision::single, 100, 1'000);
  for (const Case& c : cases) {
    const char* precision = c.precision == Precision::double_ ? "double"
                            : c.precision == Precision::mixed ? "mixed"
                                                              : "single";
    const std::string name = std::string(c.name) + "/" + precision +
                             "/N:" + std::to_string(c.molecules) +
                             (c.beads > 1 ? "/beads:" + std::to_string(c.beads) : "") +
                             "/replicas:" + std::to_string(c.replicas);
    if (is_hopeless(c, bound)) {
      std::printf("%s is skipped: it would take too long on this device\n", name.c_str());
      continue;
    }
    benchmark::RegisterBenchmark(name.c_str(),
                                 [c, bound](benchmark::State& state) { run_case(state, c, bound); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  for (const char* device : {"cpu", "cuda:0"}) {
    for (int clusters : {1'000, 16'000}) {
      const std::string name =
          std::string("quenches/") + device + "/N:8/clusters:" + std::to_string(clusters);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [device, clusters](benchmark::State& state) { run_quenches(state, device, clusters); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (int molecules : {1'000, 100'000, 1'000'000}) {
    for (bool dense : {false, true}) {
      const std::string name = std::string("solves/") + (dense ? "cusolver" : "structured") +
                               "/molecules:" + std::to_string(molecules);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [molecules, dense](benchmark::State& state) { run_solves(state, molecules, dense); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) {
    std::fprintf(stderr, "gpu_bench: nothing was measured: %s\n", probe.message.c_str());
    const char* const required = std::getenv("TARN_REQUIRE_CUDA");
    return required != nullptr && std::string(required) == "1" ? 1 : 0;
  }
  Bound bound;
  bound.device = probe.devices.front();
  int clock_kHz = 0;
  gpu::cuda_check(cudaDeviceGetAttribute(&clock_kHz, cudaDevAttrClockRate, 0));
  bound.clock_Hz = gpu::clock_Hz_of(clock_kHz);
  benchmark::AddCustomContext("device", bound.device.name);
  benchmark::AddCustomContext("multiprocessors", std::to_string(bound.device.multiprocessors));
  benchmark::AddCustomContext("clock_MHz", std::to_string(std::lround(bound.clock_Hz / 1e6)));
  benchmark::AddCustomContext("driver", probe.driver_version);
  benchmark::AddCustomContext("runtime", probe.runtime_version);
  add_cases(bound);
  benchmark::RunSpecifiedBenchmarks();
  return all_measured ? 0 : 1;
}
