#include "tarn/observe/observers.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/count_text.hpp"
#include "deck/ring_keys.hpp"
#include "io/xyz_comment.hpp"
#include "observable.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/version.hpp"

namespace tarn {

std::string provenance_of(const Deck& deck, int molecules) {
  const std::string potential = potential_text(deck);
  const int beads = beads_of(deck);
  return fmt::format("tarn {}; {}{}, {}, {}{}, seed {}; physics {:016x}", kVersion,
                     deck.system.model,
                     potential.empty() ? "" : std::string(io::kWithForces) + potential,
                     count_text(molecules, "molecule"), count_text(deck.system.replicas, "replica"),
                     beads > 1 ? fmt::format(" of {} beads", beads) : "", deck.system.seed,
                     io::checksum(physics_fingerprint(deck)));
}

const std::vector<Observable>& observables() {
  static const std::vector<Observable> rows{energies_observable(),
                                            heat_capacity_observable(),
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

}  // namespace tarn
