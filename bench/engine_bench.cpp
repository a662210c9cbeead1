#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/bench_start.hpp"
#include "bench/pair_bound.hpp"
#include "cpu/thread_team.hpp"
#include "physics/molecule_solve.hpp"
#include "src/cpu/dense_solve.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Benchmarks of the CPU engine on one thread, by instruction set, scheme and precision.
///
/// `time_per_pair` is the time of a whole step divided by the number of molecule pairs;
/// `cluster_steps_per_s` counts all replicas. `share_of_bound` is that of the pair loop alone
/// (bench/pair_bound.hpp), at the rate of multiply-adds measured before and after.
///
/// `molecule_solves` times the solves of Z&Ss with the Gauss-Newton Hessian, one molecule at a time
/// without packs: the structured 3x3 solve, and the complete 9x9 matrix factorised by Eigen.
/// `lone_molecules` times whole steps of clusters of one molecule, in packs, with either solve.
///
/// `flexible_and_settle` advances rigid TIP4P/2005 and flexible q-TIP4P/F clusters in turns. It
/// reports the shortest time of a step of a cluster, and its ratio to that with SETTLE.
/// `ring_polymers` does the same with classical q-TIP4P/F clusters and ring polymers, by bead.

namespace {

using namespace tarn;
using bench::Case;

void run_case(benchmark::State& state, const Case& c, const std::string& instruction_set) {
  const auto engine = make_cpu_engine(bench::bench_system(c), bench::bench_start(c),
                                      PairCountRequest{}, 1, instruction_set);
  const double pairs = bench::pairs_of(c);
  const std::int64_t steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(2e5 / ((pairs + 1.0) * c.replicas)));
  engine->advance(steps);
  const double before = bench::multiply_adds_per_ns(instruction_set);
  // From the step after a timed one.
  while (engine->step() % cpu::kTimedSteps != 1) engine->advance(1);
  const std::int64_t first_step = engine->step();
  const double seconds_before = engine->report().pair_seconds;
  for (auto _ : state) engine->advance(steps);
  const double multiply_adds = 0.5 * (before + bench::multiply_adds_per_ns(instruction_set));
  const double done = static_cast<double>(steps) * static_cast<double>(state.iterations());
  state.counters["cluster_steps_per_s"] =
      benchmark::Counter(done * c.replicas, benchmark::Counter::kIsRate);
  if (pairs > 0.0) {
    state.counters["time_per_pair"] = benchmark::Counter(
        done * c.replicas * pairs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }
  const std::int64_t timed_steps = (engine->step() - first_step) / cpu::kTimedSteps;
  const bench::PairSlots slots =
      bench::pair_slots(instruction_set, c.precision != Precision::double_, false);
  if (pairs > 0.0 && multiply_adds > 0.0 && timed_steps > 0) {
    const double pair_ns_per_step = 1e9 * (engine->report().pair_seconds - seconds_before) /
                                    static_cast<double>(timed_steps * cpu::kTimedSteps);
    state.counters["share_of_bound"] =
        c.replicas * pairs * slots.slots / (slots.lanes * multiply_adds * pair_ns_per_step);
  }
  if (!engine->blow_ups().empty()) state.SkipWithError("a replica blew up");
}

/// Times one pass over `cases` per iteration. The first case is the reference of the ratios.
void run_in_turns(benchmark::State& state, const std::vector<Case>& cases,
                  const std::string& instruction_set) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSteps = 200;
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Case& c : cases) {
    engines.push_back(make_cpu_engine(bench::bench_system(c), bench::bench_start(c),
                                      PairCountRequest{}, 1, instruction_set));
    engines.back()->advance(kSteps);
  }
  std::vector<double> shortest_ns(cases.size(), std::numeric_limits<double>::infinity());
  for (auto _ : state) {
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Clock::time_point start = Clock::now();
      engines[k]->advance(kSteps);
      const std::chrono::duration<double, std::nano> took = Clock::now() - start;
      const double clusters = 1.0 * cases[k].replicas * cases[k].beads;
      shortest_ns[k] = std::min(shortest_ns[k], took.count() / (kSteps * clusters));
    }
  }
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const std::string name = cases[k].name;
    state.counters[name + "_ns"] = shortest_ns[k];
    if (k > 0) state.counters[name + "_ratio"] = shortest_ns[k] / shortest_ns[0];
    if (!engines[k]->blow_ups().empty()) state.SkipWithError("a replica blew up");
  }
}

/// Times `solve(x, f, a)`, which computes the accelerations a of these molecules.
template <class Solve>
void run_solves(benchmark::State& state, const Solve& solve) {
  const std::vector<double> x = bench::bench_start({"", 512, 1, {}, {}, {}}).positions_A;
  std::vector<double> f(x.size()), a(x.size());
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = 10.0 * std::sin(0.1 * static_cast<double>(k));
  for (auto _ : state) {
    solve(x, f, a);
    benchmark::DoNotOptimize(a.data());
    benchmark::ClobberMemory();
  }
  state.counters["solves_per_s"] = benchmark::Counter(
      static_cast<double>(x.size() / 9) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}

void register_solves() {
  const System system =
      bench::bench_system({"", 512, 1, Scheme::zss_stiff, Precision::double_, Thermostat::none});
  benchmark::RegisterBenchmark("molecule_solves/dense", [system](benchmark::State& state) {
    run_solves(state, [&](const auto& x, const auto& f, auto& a) {
      cpu::dense_accelerations(system, x, f, a);
    });
  });
  benchmark::RegisterBenchmark("molecule_solves/structured", [system](benchmark::State& state) {
    const StepParameters step = step_parameters(system);
    run_solves(state, [&](const auto& x, const auto& f, auto& a) {
      for (std::size_t m = 0; m < x.size() / 9; ++m) {
        put_molecule(zss_acceleration(molecule_at(x.data(), m), molecule_at(f.data(), m),
                                      step.bonds, step.masses, step.zss),
                     a.data(), m);
      }
    });
  });
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
      {"lone_molecules/structured", 1, 1024, Scheme::zss_stiff, double_, none},
      {"lone_molecules/dense", 1, 1024, Scheme::zss_stiff, double_, none, Solver::dense},
  };
  const std::vector<Case> turns{
      {"settle", 7, 64, Scheme::settle, double_, baoab, Solver::structured, "tip4p2005"},
      {"verlet", 7, 64, Scheme::verlet, double_, baoab, Solver::structured, "qtip4pf"},
      {"zss", 7, 64, Scheme::zss_stiff, double_, baoab, Solver::structured, "qtip4pf"},
  };
  const auto ring = [](const char* name, int replicas, Precision precision, int beads) {
    return Case{name,      7,    replicas, Scheme::verlet, precision, baoab, Solver::structured,
                "qtip4pf", beads};
  };
  const std::vector<Case> rings{
      ring("classical", 64, double_, 1),  ring("beads_32", 64, double_, 32),
      ring("beads_64", 32, double_, 64),  ring("one_ring_of_32", 1, double_, 32),
      ring("beads_4", 64, double_, 4),    ring("beads_128", 16, double_, 128),
      ring("beads_256", 8, double_, 256), ring("beads_32_mixed", 64, mixed, 32)};
  register_solves();
  for (const std::string& set : cpu_instruction_sets()) {
    benchmark::RegisterBenchmark(
        (set + "/flexible_and_settle/double/N:7/replicas:64").c_str(),
        [turns, set](benchmark::State& state) { run_in_turns(state, turns, set); });
    benchmark::RegisterBenchmark(
        (set + "/ring_polymers/N:7").c_str(),
        [rings, set](benchmark::State& state) { run_in_turns(state, rings, set); });
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
