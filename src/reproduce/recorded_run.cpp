#include "recorded_run.hpp"

#include <utility>

#include "tarn/io/atomic_file.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"
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

ObservedRun observe_run(const Deck& deck, const std::string& folder) {
  const Start start = make_start(deck);
  const int molecules = start.state.molecules;
  const auto engine = make_engine(make_system(deck, molecules), start.state,
                                  make_pair_count_request(deck), {"cpu", 1});
  io::make_folder(folder);
  RunInfo info{folder,
               molecules,
               deck.system.replicas,
               "",
               deck.integrator.timestep_fs,
               first_averaged_step(deck)};
  info.threads = 1;
  const auto observers = make_observers(deck, info);
  for (const auto& observer : observers) observer->begin();
  run_loop(*engine, observers, deck.run.steps, true, [](std::int64_t) { return true; });
  ObservedRun run;
  for (const auto& observer : observers) {
    observer->finish();
    for (AveragedQuantity& a : observer->averages()) run.averages.push_back(std::move(a));
  }
  engine->snapshot(kPairCounts, run.pair_counts);
  run.blow_ups = engine->blow_ups();
  return run;
}

}  // namespace tarn
