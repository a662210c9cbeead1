#pragma once

#include "key_table.hpp"

/// @file
/// The sections of decks of water, in the order of the resolved deck and of the reference.

namespace tarn::decks {

SectionTable system_section();
SectionTable model_section();
SectionTable integrator_section();
SectionTable thermostat_section();
SectionTable path_integral_section();
SectionTable exchange_section();
SectionTable confinement_section();
SectionTable run_section();

SectionTable energies_section();
SectionTable path_integral_table_section();
SectionTable conservation_section();
SectionTable heat_section();
SectionTable temperatures_section();
SectionTable geometry_section();
SectionTable cluster_section();
SectionTable multipliers_section();
SectionTable rdf_section();
SectionTable profile_section();
SectionTable spectrum_section();
SectionTable correlation_section();
SectionTable evaporation_section();
SectionTable minima_section();
SectionTable trajectory_section();
SectionTable final_section();

constexpr double kLargestTemperature_K = 1e6;

/// The names of rigid models, and "own".
std::vector<std::string_view> rigid_models();
/// For keys that flexible models do not have.
inline std::vector<Condition> rigid_molecules() {
  constexpr std::string_view text = "a rigid model";
  return {{"system.model", rigid_models(), {}, {}, text},
          {"model.stretch", {"rigid"}, "system.model", {kOwnModel}, text}};
}

/// The schemes that hold the bonds by a penalty.
inline Condition penalty_schemes() {
  return {"integrator.scheme", {"zss-stiff", "pushforward-newmark", "newmark-one-step", "verlet"}};
}

}  // namespace tarn::decks
