#include "changed_run.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "work_folder.hpp"

namespace tarn {

RunResult run_page_deck(const Deck& deck, const ReproduceOptions& options,
                        const std::string& folder, const std::vector<ObserverMaker>& observers) {
  RunOptions run;
  run.observers = observers;
  run.out_dir = folder;
  run.overwrite = true;
  run.threads = options.threads;
  run.device = "cpu";
  run.on_progress = options.on_progress;
  if (!options.make_engine || is_mechanical(deck.system.kind)) return run_deck(deck, run);
  return run_deck(deck, run, {{}, options.make_engine});
}

RunResult run_changed(const Reproduction& r, const ReproduceOptions& options,
                      std::vector<std::string> overrides, const std::vector<std::string>& removals,
                      const std::function<void(const std::string& folder)>& read_files) {
  const std::string path = options.inputs_dir + "/" + r.deck;
  const Deck written = load_deck(path), changed = load_deck(path, overrides, removals);
  const double longer = written.integrator.timestep_fs / changed.integrator.timestep_fs;
  const auto steps = static_cast<std::int64_t>(options.share_of_time * longer *
                                               static_cast<double>(written.run.steps));
  const double equilibration_ps = options.share_of_time * changed.run.equilibration_ps;
  overrides.push_back(fmt::format("run.steps={}", std::max<std::int64_t>(steps, 1)));
  overrides.push_back(fmt::format("run.equilibration_ps={}", equilibration_ps));
  const WorkFolder folder(options.out_dir + "/" + r.name);
  RunResult result = run_page_deck(load_deck(path, overrides, removals), options, folder.path());
  if (read_files) read_files(folder.path());
  return result;
}

}  // namespace tarn
