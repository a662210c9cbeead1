#include "tarn/observe/observers.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.hpp"
#include "deck/system_limits.hpp"
#include "io/xyz.hpp"
#include "observable.hpp"
#include "tarn/core/number.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn {

std::string provenance_of(const Deck& deck, int molecules) {
  const std::string potential = potential_text(deck);
  const int beads = beads_of(deck);
  const std::vector<std::string>& isotopes = deck.system.isotopes;
  return fmt::format("tarn {}; {}{}, {}{}, {}{}, seed {}; physics {:016x}", kVersion,
                     deck.system.model,
                     potential.empty() ? "" : std::string(io::kWithForces) + potential,
                     count_text(molecules, "molecule"),
                     isotopes.empty() ? "" : fmt::format(" ({})", fmt::join(isotopes, ", ")),
                     count_text(deck.system.replicas, "replica"),
                     beads > 1 ? fmt::format(" of {} beads", beads) : "", deck.system.seed,
                     io::checksum(physics_fingerprint(deck)));
}

const std::vector<Observable>& observables() {
  static const std::vector<Observable> rows{energies_observable(),
                                            heat_capacity_observable(),
                                            bias_observable(),
                                            path_integral_observable(),
                                            conservation_observable(),
                                            heat_observable(),
                                            temperatures_observable(),
                                            geometry_observable(),
                                            cluster_observable(),
                                            multipliers_observable(),
                                            rdf_observable(),
                                            profile_observable(),
                                            {{"exchange.*", "walkers.csv"}},
                                            spectrum_observable(),
                                            correlation_observable(),
                                            evaporation_observable(),
                                            minima_observable(),
                                            trajectory_observable(),
                                            {{"final.xyz", "final-"}},
                                            {{"averages.csv", "baths.svg", "baths.png"}}};
  return rows;
}

std::unique_ptr<Observer> make_observer(const Observable& row, const Deck& deck,
                                        ObserverContext run) {
  if (row.make == nullptr) return nullptr;
  if (run.system.path_integral.beads > 1) run.provenance += row.remark;
  return row.make(deck, run);
}

std::vector<std::unique_ptr<Observer>> make_observers(const Deck& deck, const RunInfo& info) {
  ObserverContext run{info, make_system(deck, info.molecules), water_model(deck),
                      make_pair_count_request(deck), deck.system.recentre};
  run.baths_K = bath_temperatures_K(deck);
  std::vector<std::unique_ptr<Observer>> observers;
  for (const Observable& row : observables()) {
    if (auto observer = make_observer(row, deck, run)) observers.push_back(std::move(observer));
  }
  return observers;
}

std::vector<std::string> observer_file_names() {
  std::vector<std::string> names;
  for (const Observable& row : observables()) {
    for (const std::string& file : row.files) {
      if (!file.ends_with(".*")) {
        names.push_back(file);
        continue;
      }
      for (const char* extension : {"csv", "svg", "png"}) {
        names.push_back(file.substr(0, file.size() - 1) + extension);
      }
    }
  }
  return names;
}

void write_averages(const std::string& path, const std::string& provenance,
                    const std::vector<AveragedQuantity>& averages) {
  std::vector<std::string> header{"table",   "quantity",           "mean",
                                  "error",   "autocorrelation_ps", "independent_samples",
                                  "samples", "converged",          "error_of_error"};
  const bool by_bath =
      std::ranges::any_of(averages, [](const auto& a) { return a.bath_K.has_value(); });
  if (by_bath) header.insert(header.begin() + 2, "bath_K");
  const bool by_start = std::ranges::any_of(
      averages, [](const auto& a) { return a.sigmas_between_starts.has_value(); });
  if (by_start) header.push_back("sigmas_between_starts");
  io::CsvTable csv(path, header,
                   provenance +
                       (by_bath ? "; after equilibration, replicas of each temperature pooled "
                                  "(bath_K = nan: all baths)"
                                : "; after equilibration, all replicas pooled") +
                       "; error = standard error by blocking (0: unknown); converged = 0: error "
                       "and correlation time may be lower bounds; correlation time nan: result of "
                       "the whole run, mean over the replicas" +
                       (by_start ? "; sigmas_between_starts = largest deviation of the replicas "
                                   "with one start structure from the others, in standard errors"
                                 : ""));
  for (const AveragedQuantity& a : averages) {
    csv.cells(a.table, a.quantity);
    if (by_bath) csv.cell_or_nan(a.bath_K.value_or(kNoNumber));
    // The input tables are finite, but squares of their values may overflow; that is no failure.
    csv.cells_or_nan(a.mean, a.error, a.autocorrelation_ps.value_or(kNoNumber),
                     a.independent_samples);
    csv.cells(a.samples, a.converged).cell_or_nan(a.error_of_error.value_or(kNoNumber));
    if (by_start) csv.cell_or_nan(a.sigmas_between_starts.value_or(kNoNumber));
    csv.end_row();
  }
  csv.write();
}

}  // namespace tarn
