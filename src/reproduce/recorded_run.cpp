#include "recorded_run.hpp"

#include <utility>

#include "tarn/start.hpp"

namespace tarn {

RecordedRun record_run(const Deck& deck, unsigned fields, std::int64_t every, int threads) {
  RecordedRun run;
  run.deck = deck;
  const Start start = make_start(deck);
  run.molecules = start.state.molecules;
  const auto engine =
      make_engine(make_system(deck, run.molecules), start.state, {}, {"cpu", threads});
  for (std::int64_t step = 0; step <= deck.run.steps; step += every) {
    if (step > 0) engine->advance(every);
    Frame frame;
    engine->snapshot(fields, frame);
    if (frame.replica_ids.empty()) break;
    run.frames.push_back(std::move(frame));
  }
  run.blow_ups = engine->blow_ups();
  return run;
}

}  // namespace tarn
