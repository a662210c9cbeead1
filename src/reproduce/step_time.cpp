#include "step_time.hpp"

#include <algorithm>
#include <ctime>

#include "numbers.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

double seconds_of_steps(Engine& engine, std::int64_t steps) {
  return core_seconds_of([&] { engine.advance(steps); });
}

/// Estimates, from a shorter run, the number of steps that take this time.
/// @throws NumericalError if replicas are lost, whose steps take no time
std::int64_t steps_in(Engine& engine, double seconds) {
  std::int64_t steps = 1;
  double taken = seconds_of_steps(engine, steps);
  while (taken < 0.2 * seconds) {
    if (!engine.blow_ups().empty()) throw NumericalError("a replica blew up while it was timed");
    steps *= 2;
    taken = seconds_of_steps(engine, steps);
  }
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(steps) * seconds / taken));
}

}  // namespace

std::unique_ptr<Engine> engine_of(const Deck& deck) {
  const Start start = make_start(deck);
  return make_engine(make_system(deck, start.state.molecules), start.state, {}, {"cpu", 1});
}

double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TimedEngine timed_engine_of(const Deck& deck) {
  return {engine_of(deck), deck.system.replicas, {}};
}

double TimedEngine::quantile(double share) const { return quantile_of(ns_per_step, share); }

void time_in_turns(std::vector<TimedEngine>& all, int turns, double seconds) {
  std::vector<std::int64_t> steps;
  for (TimedEngine& t : all) steps.push_back(steps_in(*t.engine, seconds));
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double taken = seconds_of_steps(*all[k].engine, steps[k]);
      all[k].ns_per_step.push_back(1e9 * taken / static_cast<double>(steps[k]) / all[k].replicas);
    }
  }
}

}  // namespace tarn
