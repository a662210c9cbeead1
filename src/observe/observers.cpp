#include "tarn/observe/observers.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/count_text.hpp"
#include "deck/ring_keys.hpp"
#include "makers.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/version.hpp"

namespace tarn {

std::string provenance_of(const Deck& deck, int molecules) {
  const int beads = beads_of(deck);
  return fmt::format("tarn {}; {}, {}, {}{}, seed {}; physics {:016x}", kVersion, deck.system.model,
                     count_text(molecules, "molecule"), count_text(deck.system.replicas, "replica"),
                     beads > 1 ? fmt::format(" of {} beads", beads) : "", deck.system.seed,
                     io::checksum(physics_fingerprint(deck)));
}

std::vector<std::unique_ptr<Observer>> make_observers(const Deck& deck, const RunInfo& run) {
  RunInfo info = run;
  info.baths_K = bath_temperatures_K(deck);
  std::vector<std::unique_ptr<Observer>> observers;
  if (deck.energies) {
    observers.push_back(make_energies(*deck.energies, deck, info));
    auto curve = beads_of(deck) > 1 ? nullptr : make_heat_capacity(*deck.energies, deck, info);
    if (curve) observers.push_back(std::move(curve));
  }
  if (deck.path_integral_table) {
    observers.push_back(make_path_integral(*deck.path_integral_table, info));
  }
  // Several beads: what these tables contain.
  const auto with = [&](const char* remark) {
    RunInfo of_beads = info;
    if (beads_of(deck) > 1) of_beads.provenance += remark;
    return of_beads;
  };
  const RunInfo of_centroids = with("; of the centroids"), of_all = with("; over all beads");
  if (deck.conservation) {
    observers.push_back(make_conservation(
        *deck.conservation,
        with("; energy = Hamiltonian of the ring polymer, a sum over its beads; momenta = means "
             "over the beads")));
  }
  if (deck.heat) {
    observers.push_back(make_heat(*deck.heat, with("; of the ring polymer, sums over its beads")));
  }
  if (deck.temperatures) {
    observers.push_back(make_temperatures(*deck.temperatures, of_centroids));
  }
  if (deck.geometry) observers.push_back(make_geometry(*deck.geometry, of_all));
  if (deck.cluster) observers.push_back(make_cluster(*deck.cluster, of_centroids));
  if (deck.multipliers) observers.push_back(make_multipliers(*deck.multipliers, deck, info));
  if (deck.rdf) observers.push_back(make_rdf(make_pair_count_request(deck), of_all));
  if (deck.profile) observers.push_back(make_profile(*deck.profile, deck, of_all));
  if (deck.spectrum) observers.push_back(make_spectrum(*deck.spectrum, deck, of_centroids));
  if (deck.correlation) {
    observers.push_back(make_correlation(*deck.correlation, deck, of_centroids));
  }
  if (deck.evaporation) observers.push_back(make_evaporation(*deck.evaporation, of_centroids));
  if (deck.minima) observers.push_back(make_minima(*deck.minima, deck, of_centroids));
  if (deck.trajectory) observers.push_back(make_trajectory(*deck.trajectory, deck, info));
  return observers;
}

std::vector<std::string> observer_file_names() {
  std::vector<std::string> names{"averages.csv",
                                 "heat_capacity.csv",
                                 "baths.svg",
                                 "baths.png",
                                 "rdf_by_bath.csv",
                                 "profile_by_bath.csv",
                                 "iterations.csv",
                                 "temperatures.csv",
                                 "geometry.csv",
                                 "topology.pdb",
                                 "multipliers.csv",
                                 "trajectory-",
                                 "final.xyz",
                                 "final-",
                                 "walkers.csv",
                                 "survival.csv",
                                 "evaporation_rates.csv",
                                 "minima.csv",
                                 "isomers_by_bath.csv",
                                 "isomers.xyz",
                                 "isomers_structures.svg"};
  for (const char* table :
       {"energies", "path_integral", "conservation", "heat", "cluster", "rdf", "profile",
        "spectrum", "correlation", "evaporation", "isomers", "exchange", "trajectory"}) {
    for (const char* extension : {".csv", ".svg", ".png"}) {
      names.push_back(std::string(table) + extension);
    }
  }
  for (const io::Format& format : io::formats()) {
    names.push_back(fmt::format("trajectory{}", format.extensions.front()));
  }
  return names;
}

}  // namespace tarn
