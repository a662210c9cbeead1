#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench_system.hpp"
#include "bench/pair_bound.hpp"
#include "tarn/cpu_engine.hpp"

/// @file
/// Steps of the CPU engine on one thread, by instruction set, scheme and precision.
///
/// `time_per_pair` is the time of a whole step divided by the number of molecule pairs;
/// `cluster_steps_per_s` counts every replica. `share_of_bound` is that of the pair loop alone
/// (bench/pair_bound.hpp), at the rate of multiply-adds measured before and after.

namespace {

using namespace tarn;
using bench::Case;

void run_case(benchmark::State& state, const Case& c, const std::string& instruction_set) {
  const auto engine = make_cpu_engine(bench::bench_system(c), bench::bench_start(c),
                                      PairCountRequest{}, 1, instruction_set);
  const double pairs = bench::pairs_of(c);
  const std::int64_t steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(2e5 / (pairs * c.replicas + 1.0)));
  engine->advance(steps);
  const double before = bench::multiply_adds_per_ns(instruction_set);
  for (auto _ : state) engine->advance(steps);
  const double multiply_adds = 0.5 * (before + bench::multiply_adds_per_ns(instruction_set));
  const double done = static_cast<double>(steps) * static_cast<double>(state.iterations());
  state.counters["cluster_steps_per_s"] =
      benchmark::Counter(done * c.replicas, benchmark::Counter::kIsRate);
  state.counters["time_per_pair"] = benchmark::Counter(
      done * c.replicas * pairs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  const EngineReport r = engine->report();
  const double pair_share =
      r.pair_seconds / (r.pair_seconds + r.bond_seconds + r.noise_seconds + r.rest_seconds);
  const bench::PairSlots slots =
      bench::pair_slots(instruction_set, c.precision != Precision::double_, false);
  if (multiply_adds > 0.0) {
    state.counters["share_of_bound"] = benchmark::Counter(
        done * c.replicas * pairs * 1e-9 * slots.slots / (slots.lanes * multiply_adds * pair_share),
        benchmark::Counter::kIsRate);
  }
  if (!engine->blow_ups().empty()) state.SkipWithError("a replica blew up");
}

}  // namespace

int main(int argc, char** argv) {
  using enum Precision;
  using enum Thermostat;
  const std::vector<Case> cases{
      {"zss_gla/double", 7, 64, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 7, 64, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/single", 7, 64, Scheme::zss_stiff, single, gla},
      {"settle_gla/double", 7, 64, Scheme::settle, double_, gla},
      {"shake_gla/double", 7, 64, Scheme::shake, double_, gla},
      {"settle_gla/mixed", 7, 64, Scheme::settle, mixed, gla},
      {"settle_gla/single", 7, 64, Scheme::settle, single, gla},
      {"settle_baoab/double", 7, 64, Scheme::settle, double_, baoab},
      {"settle_baoab/mixed", 7, 64, Scheme::settle, mixed, baoab},
      {"settle_baoab/single", 7, 64, Scheme::settle, single, baoab},
      {"zss_gla/double", 7, 1, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 7, 1, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/single", 7, 1, Scheme::zss_stiff, single, gla},
      {"zss_gla/double", 32, 1, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 32, 1, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/double", 100, 1, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 100, 1, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/double", 216, 1, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 216, 1, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/double", 1000, 1, Scheme::zss_stiff, double_, gla},
      {"zss_gla/mixed", 1000, 1, Scheme::zss_stiff, mixed, gla},
      {"zss_gla/single", 1000, 1, Scheme::zss_stiff, single, gla},
  };
  for (const std::string& set : cpu_instruction_sets()) {
    for (const Case& c : cases) {
      const std::string name = set + "/" + c.name + "/N:" + std::to_string(c.molecules) +
                               "/replicas:" + std::to_string(c.replicas);
      benchmark::RegisterBenchmark(name.c_str(),
                                   [c, set](benchmark::State& state) { run_case(state, c, set); });
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
