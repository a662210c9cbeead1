#include <fmt/format.h>

#include "mechanics_case.hpp"
#include "mechanics_experiment.hpp"
#include "mechanics_run.hpp"
#include "tarn/core/error.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "water_run.hpp"

namespace tarn {
namespace {

void refuse_options_of_water(const Deck& deck, const RunOptions& options) {
  if (options.potential) {
    throw InputError(fmt::format("{}: RunOptions::potential requires water, but kind = \"{}\"",
                                 deck.path, deck.system.kind));
  }
  if (options.observers.empty()) return;
  throw InputError(
      fmt::format("{}: RunOptions::observers require water, but kind = \"{}\"; for its coordinates "
                  "use [observe.trajectory]",
                  deck.path, deck.system.kind));
}

}  // namespace

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  if (!is_mechanical(deck.system.kind)) return run_deck(deck, options, {});
  refuse_options_of_water(deck, options);
  return run_mechanics(deck, options);
}

RunResult run_deck(const Deck& deck, const RunOptions& options, const RunFactories& parts) {
  if (is_mechanical(deck.system.kind)) {
    throw InputError(fmt::format("{}: RunFactories require water, but kind = \"{}\"", deck.path,
                                 deck.system.kind));
  }
  const auto should_continue = [&options](int done, int replicas) {
    if (options.on_preparation) options.on_preparation(done, replicas);
    return !(options.interrupted && options.interrupted());
  };
  RunFactories all = parts;
  if (!all.make_start)
    all.make_start = [&](const Deck& d) { return make_start(d, should_continue); };
  if (!all.make_engine) all.make_engine = make_engine;
  if (!options.potential) return run_water(deck, options, all);
  return run_water(with_potential(deck, options.potential->name()), options, all);
}

Deck check_mechanics(const Deck& deck) {
  make_mechanics_case(deck);
  return with_initial_data(deck);
}

}  // namespace tarn
