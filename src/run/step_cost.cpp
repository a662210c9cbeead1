#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

#include "core/processors.hpp"
#include "run_messages.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

using Clock = std::chrono::steady_clock;

/// Replicas of a cluster at rest on a cubic grid, on which no atoms come close during the steps.
State state_on_grid(const System& system, int replicas) {
  constexpr double kSpacing_A = 10.0;
  const std::vector<double> molecule = random_cluster(system.model, 1, 1, 0);
  const int edge = static_cast<int>(std::ceil(std::cbrt(system.molecules)));
  State s;
  s.molecules = system.molecules;
  s.replica_ids.resize(static_cast<std::size_t>(replicas));
  std::iota(s.replica_ids.begin(), s.replica_ids.end(), 0);
  for (int r = 0; r < replicas; ++r) {
    for (int m = 0; m < system.molecules; ++m) {
      const int place[3] = {m % edge, m / edge % edge, m / edge / edge};
      for (std::size_t c = 0; c < molecule.size(); ++c) {
        s.positions_A.push_back(molecule[c] + kSpacing_A * place[c % 3]);
      }
    }
  }
  s.velocities_A_per_akma.assign(s.positions_A.size(), 0.0);
  return start::rings_of(system, std::move(s), nullptr, false, false);
}

/// Nothing if a replica was stopped: steps of stopped replicas cost nothing.
std::optional<double> seconds_per_step(Engine& engine) {
  constexpr double kEnough_s = 0.05;
  engine.advance(1);
  for (std::int64_t steps = 1;; steps *= 2) {
    const Clock::time_point begin = Clock::now();
    engine.advance(steps);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!engine.blow_ups().empty()) return std::nullopt;
    if (seconds >= kEnough_s) return seconds / static_cast<double>(steps);
  }
}

std::optional<RunCost> cost_on_cpu(const Deck& deck, int molecules) {
  // Pairs of molecules and beads in a measured step: some 10 ms on one core.
  constexpr double kMostPairs = 1e6;
  constexpr int kReplicasPerThread = 32;
  RunCost cost;
  cost.threads = deck.run.threads > 0 ? deck.run.threads : default_threads();
  Deck part = deck;
  part.system.file.reset();
  part.system.files.clear();
  part.system.state.reset();
  part.confinement.reset();
  const int beads = deck.path_integral ? deck.path_integral->beads : 1;
  const auto most = static_cast<int>(std::max(1.0, std::sqrt(2.0 * kMostPairs / beads)));
  part.system.molecules = std::min(molecules, most);
  const double size = part.system.molecules;
  const double by_pairs = kMostPairs / (0.5 * size * size * beads);
  const int by_threads = kReplicasPerThread * cost.threads;
  part.system.replicas = std::clamp(static_cast<int>(std::min(by_pairs, 1e6)), 1,
                                    std::min(by_threads, deck.system.replicas));
  const System system = make_system(part, part.system.molecules);
  const auto engine = make_cpu_engine(system, state_on_grid(system, part.system.replicas),
                                      make_pair_count_request(part), cost.threads);
  const double rest = molecules / size;
  const std::optional<double> seconds = seconds_per_step(*engine);
  if (!seconds) return std::nullopt;
  cost.seconds = *seconds * static_cast<double>(deck.run.steps) * rest * rest *
                 deck.system.replicas / part.system.replicas;
  return cost;
}

/// Steps per second on one NVIDIA H200, of a single cluster and of all clusters of a large run:
/// Z&Ss with GLA (docs/results/gpu-bench.json). Many clusters of more than 216 were not timed.
struct GpuRate {
  double molecules, one, many;
};
constexpr GpuRate kMixedRates[] = {{6, 5.2e5, 2.3e9},     {7, 5.2e5, 1.9e9},  {10, 4.6e5, 1.1e9},
                                   {32, 2.3e5, 1.9e8},    {64, 1.8e5, 2.9e7}, {100, 9.3e4, 1.3e7},
                                   {216, 1.0e5, 2.5e6},   {1000, 7.0e4, 7e4}, {4000, 1.3e4, 1.3e4},
                                   {20'000, 680.0, 680.0}};
constexpr GpuRate kDoubleRates[] = {
    {6, 4.2e5, 1.7e9},  {7, 4.2e5, 1.3e9},     {10, 3.5e5, 7.3e8},  {32, 1.3e5, 9.8e7},
    {64, 1.4e5, 2.0e7}, {100, 5.9e4, 7.8e6},   {216, 8.9e4, 1.8e6}, {1000, 5.3e4, 5.3e4},
    {4000, 7e3, 7e3},   {20'000, 340.0, 340.0}};
/// Smallest rates of whole runs relative to those of the steps (docs/results/gpu-runs.csv).
constexpr double kShareWithExchange = 0.07, kShareWithObservers = 0.17;

double gpu_rate(std::span<const GpuRate> rates, double molecules, double replicas) {
  std::size_t k = 1;
  while (k + 1 < rates.size() && rates[k].molecules < molecules) ++k;
  const GpuRate &low = rates[k - 1], &high = rates[k];
  const double at = std::log(std::max(molecules, low.molecules) / low.molecules) /
                    std::log(high.molecules / low.molecules);
  const double one = low.one * std::pow(high.one / low.one, at);
  return std::min(replicas * one, std::max(one, low.many * std::pow(high.many / low.many, at)));
}

std::optional<RunCost> cost_on_gpu(const Deck& deck, int molecules) {
  const bool has_rings = deck.path_integral && deck.path_integral->beads > 1;
  if (has_rings || water_model(deck).is_many_body()) return std::nullopt;  // never timed
  const double rate =
      gpu_rate(deck.run.precision == Precision::double_ ? kDoubleRates : kMixedRates, molecules,
               deck.system.replicas);
  RunCost cost;
  cost.seconds = static_cast<double>(deck.run.steps) * deck.system.replicas / rate;
  cost.most_factor = 1.0 / (deck.exchange ? kShareWithExchange : kShareWithObservers);
  return cost;
}

}  // namespace

std::optional<RunCost> estimated_cost(const Deck& deck, int molecules) {
  try {
    const std::string& device = deck.run.device;
    const bool on_cpu =
        device == "cpu" ||
        (device == "auto" &&
         auto_device(make_system(deck, molecules), deck.system.replicas, deck.run.threads).name ==
             "cpu");
    return on_cpu ? cost_on_cpu(deck, molecules) : cost_on_gpu(deck, molecules);
  } catch (const std::exception&) {  // the run itself reports what is wrong
    return std::nullopt;
  }
}

double gpu_bytes(const System& system, std::int64_t replicas) {
  constexpr double kTriple = 9 * sizeof(double);  // the numbers of a molecule
  const int n = system.molecules, beads = system.path_integral.beads;
  // Up to 32 molecules, a warp of 32 lanes has as many clusters as fit.
  const double lanes = n <= 32 ? 32.0 / (32 / n) : n;
  // Positions and velocities, both twice, accelerations, forces, and velocities of BAOAB.
  const double arrays = system.thermostat.kind == Thermostat::baoab ? 7 : 6;
  double triples = arrays * (beads > 1 ? beads * n : lanes);
  if (beads > 1) triples += 2 * beads * lanes + 3 * n;  // of beads, and centroids
  if (beads == 1 && n > 128) {  // rows of partial forces between bands of 128
    const int half = (n + 127) / 128 / 2, parts = n <= 1024 ? 2 : 1;
    triples += 1.0 * n * (std::min(40, 4 * parts * (1 + half)) + half * parts + 1);
  }
  double bytes = triples * kTriple;
  if (system.model.many_body == ManyBodyModel::mbpol) {  // ManyBodyStage
    const double dimers = 0.5 * n * (n - 1), trimers = dimers * (n - 2) / 3.0;
    bytes += beads * (19.0 * dimers + 28.0 * trimers) * sizeof(double);
  }
  return static_cast<double>(replicas) * bytes;
}

}  // namespace tarn
