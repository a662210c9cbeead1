#include "tarn/run.hpp"
#include "tarn/start.hpp"

namespace tarn {

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  return run_deck(deck, options, {make_start, make_engine});
}

}  // namespace tarn
