#include "quantum_run.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "result_page.hpp"
#include "work_folder.hpp"

namespace tarn {

std::vector<double> page_temperatures(std::vector<double> temperatures_K,
                                      const ReproduceOptions& options) {
  if (options.share_of_time >= 1.0) return temperatures_K;
  return {temperatures_K.back()};
}

int beads_for(double beads_times_K, double temperature_K) {
  return static_cast<int>(std::lround(beads_times_K / temperature_K));
}

std::vector<std::string> ring_overrides(double temperature_K, int beads) {
  return {fmt::format("thermostat.temperature_K={}", temperature_K),
          fmt::format("path_integral.beads={}", beads)};
}

RunResult run_quantum(const Reproduction& r, const ReproduceOptions& options,
                      const std::vector<std::string>& overrides,
                      const std::vector<std::string>& removals,
                      const std::vector<ObserverMaker>& observers) {
  std::vector<std::string> all = r.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  Deck deck = load_deck(options.inputs_dir + "/" + r.deck, all, removals);
  deck.run.steps = std::llround(options.share_of_time * static_cast<double>(deck.run.steps));
  deck.run.equilibration_ps *= options.share_of_time;
  const WorkFolder folder(output_path(r, options, ""));
  return run_page_deck(deck, options, folder.path(), observers);
}

analysis::MeanError average_of(const std::vector<AveragedQuantity>& averages,
                               std::string_view column) {
  const auto found = std::ranges::find(averages, column, &AveragedQuantity::quantity);
  if (found == averages.end()) {
    throw std::logic_error(fmt::format("the run has no average of {}", column));
  }
  return {found->mean, found->error};
}

}  // namespace tarn
