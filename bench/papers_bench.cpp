// A step of the chain of n pendula, TO 4.2; the cost must be proportional to n.
#include <benchmark/benchmark.h>

#include "papers/methods.hpp"
#include "papers/systems.hpp"

namespace tarn::papers {
namespace {

constexpr double kStep = 0.05;

void time_steps(benchmark::State& state, const IntegratorKeys& keys, bool is_rigid) {
  const Experiment p = make_pendula(pendulum_chain(state.range(0)), 20.0);
  const auto method = make_method(keys, p.equations(is_rigid));
  // Long chains continue from the start, so all sizes do the same work.
  State start{p.position, p.velocity, {}, {}};
  method->begin(start);
  for (auto _ : state) {
    State s = start;
    method->step(s);
    benchmark::DoNotOptimize(s.x.data());
  }
  state.SetComplexityN(state.range(0));
  state.counters["points/s"] = benchmark::Counter(static_cast<double>(state.range(0)),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void chain_zs(benchmark::State& state) {
  time_steps(state, {.scheme = "zs", .step = kStep, .beta = 0.4}, false);
}

void chain_shake(benchmark::State& state) {
  time_steps(state, {.scheme = "shake", .step = kStep}, true);
}

BENCHMARK(chain_zs)->RangeMultiplier(10)->Range(10, 10000)->Complexity(benchmark::oN);
BENCHMARK(chain_shake)->RangeMultiplier(10)->Range(10, 10000)->Complexity(benchmark::oN);

}  // namespace
}  // namespace tarn::papers
