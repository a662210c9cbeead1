#include "mechanics_case.hpp"
#include "mechanics_run.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

namespace tarn {

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  if (is_mechanical(deck.system.kind)) return run_mechanics(deck, options);
  return run_deck(deck, options, {make_start, make_engine});
}

Deck check_mechanics(const Deck& deck) {
  make_mechanics_case(deck);
  return with_initial_data(deck);
}

}  // namespace tarn
