#pragma once

#include <array>
#include <string_view>

#include "tarn/core/units.hpp"
#include "tarn/physics/measured.hpp"

/// @file
/// The columns of path_integral.csv, which comparisons use too.

namespace tarn {

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
