#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench_start.hpp"
#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"

/// @file
/// The cost of sharing replicas among MPI ranks: `mpirun -n R bin/ranks_bench [REPLICAS]...`, or
/// without mpirun for one process. Clusters of seven molecules, one thread per rank (the variable
/// TARN_BENCH_THREADS changes that).

namespace tarn {
namespace {

/// Seconds of a call, the smallest of some repetitions: other programs can only add to it.
double seconds_of(int repetitions, const std::function<void()>& call) {
  double least = 1e9;
  for (int k = 0; k < repetitions; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    least = std::min(least, elapsed.count());
  }
  return least;
}

void measure(int replicas, const EngineMaker& maker, int ranks, int threads) {
  const bench::Case c{"ranks", 7, replicas, Scheme::zss_stiff, Precision::double_, Thermostat::gla};
  const auto engine = maker(bench::bench_system(c), bench::bench_start(c), {}, {"cpu", threads});
  MeasureSettings settings;
  settings.moment_groups = 32;
  engine->measure_with(settings);
  Frame frame;
  const auto steps_with_frames = [&](unsigned fields, std::int64_t every) {
    constexpr int kFrames = 20;
    const double seconds = seconds_of(5, [&] {
      bool has_begun = false;
      for (int k = 0; k < kFrames; ++k) {  // as in run_loop()
        engine->begin_advance(every);
        if (has_begun) engine->finish_snapshot(frame);
        has_begun = engine->begin_snapshot(fields);
        if (has_begun) continue;
        engine->wait();
        engine->snapshot(fields, frame);
      }
      if (has_begun) engine->finish_snapshot(frame);
      engine->wait();
    });
    return 1e3 * seconds / kFrames;
  };
  const auto frame_ms = [&](unsigned fields) {
    return 1e3 * seconds_of(10, [&] { engine->snapshot(fields, frame); });
  };
  std::vector<StateExchange> pairs;  // across the middle, where the shares of ranks meet
  for (std::int64_t r = 0; r + 1 < replicas; r += 2) pairs.push_back({r, r + 1, 1.0, 1.0});
  const double exchange_ms = 1e3 * seconds_of(5, [&] { engine->exchange(pairs); });
  const double state_ms = 1e3 * seconds_of(3, [&] { engine->state(); });
  fmt::print("{},{},{},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g}\n", ranks, threads,
             replicas, steps_with_frames(kEnergies, 100),
             1e3 * seconds_of(5, [&] { engine->advance(100); }), frame_ms(kEnergies),
             frame_ms(kEnergyMoments), frame_ms(kPositions | kVelocities), exchange_ms, state_ms);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tarn

int main(int argc, char** argv) {
  const std::unique_ptr<tarn::Ranks> ranks = tarn::Ranks::launched();
  if (ranks && ranks->rank() > 0) {
    ranks->serve();
    return 0;
  }
  const tarn::EngineMaker maker = ranks ? ranks->engine_maker() : tarn::make_engine;
  const char* const asked = std::getenv("TARN_BENCH_THREADS");
  const int threads = asked != nullptr ? std::max(1, std::atoi(asked)) : 1;
  fmt::print(
      "ranks,threads,replicas,ms_per_100_steps_and_frame,ms_per_100_steps,rows_ms,means_ms,"
      "arrays_ms,exchange_ms,state_ms\n");
  std::vector<int> sizes;
  for (int k = 1; k < argc; ++k) sizes.push_back(std::max(1, std::atoi(argv[k])));
  if (sizes.empty()) sizes = {64, 1000, 10'000};
  for (const int replicas : sizes) {
    tarn::measure(replicas, maker, ranks ? ranks->size() : 1, threads);
  }
  return 0;
}
