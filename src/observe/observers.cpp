#include "tarn/observe/observers.hpp"

#include <fmt/format.h>

#include "makers.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/version.hpp"

namespace tarn {

std::string provenance_of(const Deck& deck, int molecules) {
  return fmt::format("tarn {}; {}, {} molecule{}, {} replica{}, seed {}; physics {:016x}", kVersion,
                     deck.system.model, molecules, molecules == 1 ? "" : "s", deck.system.replicas,
                     deck.system.replicas == 1 ? "" : "s", deck.system.seed,
                     io::checksum(physics_fingerprint(deck)));
}

std::vector<std::unique_ptr<Observer>> make_observers(const Deck& deck, const RunInfo& run) {
  RunInfo info = run;
  if (deck.thermostat.kind != Thermostat::none) {
    info.baths_K = deck.thermostat.temperatures_K;
    if (info.baths_K.empty()) info.baths_K = {deck.thermostat.temperature_K.value()};
  }
  std::vector<std::unique_ptr<Observer>> observers;
  if (deck.energies) observers.push_back(make_energies(*deck.energies, info));
  if (deck.conservation) observers.push_back(make_conservation(*deck.conservation, info));
  if (deck.heat) observers.push_back(make_heat(*deck.heat, info));
  if (deck.temperatures) observers.push_back(make_temperatures(*deck.temperatures, info));
  if (deck.geometry) observers.push_back(make_geometry(*deck.geometry, info));
  if (deck.cluster) observers.push_back(make_cluster(*deck.cluster, deck, info));
  if (deck.multipliers) observers.push_back(make_multipliers(*deck.multipliers, deck, info));
  if (deck.rdf) observers.push_back(make_rdf(make_pair_count_request(deck), info));
  if (deck.spectrum) observers.push_back(make_spectrum(*deck.spectrum, deck, info));
  if (deck.trajectory) observers.push_back(make_trajectory(*deck.trajectory, deck, info));
  return observers;
}

std::vector<std::string> observer_file_names() {
  std::vector<std::string> names{
      "averages.csv",     "baths.svg",      "baths.png",        "energies.csv",
      "energies.svg",     "energies.png",   "conservation.csv", "conservation.svg",
      "conservation.png", "rdf.csv",        "rdf.svg",          "rdf.png",
      "spectrum.csv",     "spectrum.svg",   "spectrum.png",     "temperatures.csv",
      "geometry.csv",     "cluster.csv",    "cluster.svg",      "cluster.png",
      "multipliers.csv",  "topology.pdb",   "trajectory-",      "trajectory.csv",
      "trajectory.svg",   "trajectory.png", "iterations.csv",   "heat.csv",
      "heat.svg",         "heat.png",       "final.xyz",        "final-"};
  for (const io::Format& format : io::formats()) {
    names.push_back(fmt::format("trajectory{}", format.extensions.front()));
  }
  return names;
}

}  // namespace tarn
