#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/core/units.hpp"
#include "tarn/deck.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"
#include "tarn/physics/measured.hpp"

/// @file
/// The registry of the observers that decks turn on.

namespace tarn {

/// What observers know about a run, in addition to their settings.
struct ObserverContext : RunInfo {
  System system{};
  WaterModel model{};  ///< with the masses of water_model()
  PairCountRequest pair_counts{};
  bool recentre = false;  ///< see SystemSection
};

/// A row of the registry: one kind of observer.
struct Observable {
  /// Files that it may write. "foo.*" stands for a table and its pictures, and a name that ends
  /// with '-' for all names that continue with a replica number.
  std::vector<std::string> files;
  std::string_view remark{};  ///< end of the provenance for ring polymers
  /// Null without its section, or if it does not apply; empty if the run makes it.
  std::function<std::unique_ptr<Observer>(const Deck&, const ObserverContext&)> make{};
};

/// Makes an observer of class T.
template <class T, class Settings>
std::unique_ptr<Observer> construct(const Settings& section, const ObserverContext& run) {
  return std::make_unique<T>(section, run);
}

/// The row of a section of the deck. @param make makes the observer from the settings; may return
/// null
template <class Settings>
Observable observable(std::optional<Settings> Deck::*section,
                      std::unique_ptr<Observer> (*make)(const Settings&, const ObserverContext&),
                      std::vector<std::string> files, std::string_view remark = {}) {
  const auto make_from_deck = [=](const Deck& deck, const ObserverContext& run) {
    return deck.*section ? make(*(deck.*section), run) : nullptr;
  };
  return {std::move(files), remark, make_from_deck};
}

/// @name Rows, each in the file with its name; those of most tables of rows in energies.cpp
/// @{
Observable energies_observable();
Observable heat_capacity_observable();
Observable bias_observable();
Observable path_integral_observable();
Observable conservation_observable();
Observable heat_observable();
Observable temperatures_observable();
Observable geometry_observable();
Observable cluster_observable();
Observable multipliers_observable();
Observable rdf_observable();
Observable profile_observable();
Observable spectrum_observable();
Observable correlation_observable();
Observable evaporation_observable();
Observable minima_observable();
Observable trajectory_observable();
/// @}

/// Writes heat_capacity.csv of ring polymers, from the samples of [observe.path_integral].
/// @return null without a thermostat or without beads
std::unique_ptr<Observer> make_ring_heat_capacity(const ObserveTable& section,
                                                  const ObserverContext& info);

/// All rows, in the order of the observers and of the pictures.
const std::vector<Observable>& observables();

/// The observer of a row, or null.
std::unique_ptr<Observer> make_observer(const Observable& row, const Deck& deck,
                                        ObserverContext run);

struct RingColumn {
  std::string_view name;
  double RingMeasures::*value;
  double factor = 1.0;
  bool has_limit = true;  ///< whether its mean is that of quantum nuclei for many beads

  double of(const RingMeasures& m) const { return factor * m.*value; }
};

inline constexpr std::array<RingColumn, 13> kRingColumns{{
    {"energy_primitive_kcal_per_mol", &RingMeasures::primitive_kcal_per_mol},
    {"energy_virial_kcal_per_mol", &RingMeasures::virial_kcal_per_mol},
    {"kinetic_o_kcal_per_mol", &RingMeasures::kinetic_o_kcal_per_mol},
    {"kinetic_h_kcal_per_mol", &RingMeasures::kinetic_h_kcal_per_mol},
    {"kinetic_o_meV", &RingMeasures::kinetic_o_kcal_per_mol, units::meV_per_kcal_per_mol},
    {"kinetic_h_meV", &RingMeasures::kinetic_h_kcal_per_mol, units::meV_per_kcal_per_mol},
    {"potential_kcal_per_mol", &RingMeasures::potential_kcal_per_mol},
    {"intramolecular_kcal_per_mol", &RingMeasures::intramolecular_kcal_per_mol},
    {"spring_kcal_per_mol", &RingMeasures::spring_kcal_per_mol, 1.0, false},
    {"gyration2_o_A2", &RingMeasures::gyration2_o_A2},
    {"gyration2_h_A2", &RingMeasures::gyration2_h_A2},
    {"centroid_K", &RingMeasures::centroid_K, 1.0, false},
    {"internal_K", &RingMeasures::internal_K, 1.0, false},
}};

}  // namespace tarn
