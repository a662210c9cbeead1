#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "water_run.hpp"

namespace tarn {

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  return run_deck(deck, options, {});
}

RunResult run_deck(const Deck& deck, const RunOptions& options, const RunFactories& parts) {
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

}  // namespace tarn
