#include "step_cost.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "core/processors.hpp"
#include "start/rings.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/minimise.hpp"
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

}  // namespace

std::optional<RunCost> estimated_cost(const Deck& deck, int molecules) {
  try {
    const std::string& device = deck.run.device;
    const bool on_cpu =
        device == "cpu" ||
        (device == "auto" &&
         auto_device(make_system(deck, molecules), deck.system.replicas, deck.run.threads).name ==
             "cpu");
    if (!on_cpu) return std::nullopt;
    return cost_on_cpu(deck, molecules);
  } catch (const std::exception&) {  // the run itself reports what is wrong
    return std::nullopt;
  }
}

}  // namespace tarn
