#include "mechanics_case.hpp"
#include "mechanics_run.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

namespace tarn {

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  if (is_mechanical(deck.system.kind)) return run_mechanics(deck, options);
  const auto go_on = [&options](int done, int replicas) {
    if (options.on_making_start) options.on_making_start(done, replicas);
    return !(options.interrupted && options.interrupted());
  };
  return run_deck(deck, options,
                  {[&](const Deck& d) { return make_start(d, go_on); }, make_engine});
}

Deck check_mechanics(const Deck& deck) {
  make_mechanics_case(deck);
  return with_initial_data(deck);
}

}  // namespace tarn
