#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tarn/core/units.hpp"

namespace tarn {

/// A rigid water model: geometry, charges and Lennard-Jones A/r^12 - C/r^6 between oxygens
/// (Jorgensen et al. 1983, table I; SPC/E: Berendsen et al. 1987).
struct WaterModel {
  std::string_view name;
  double r_oh_A = 0.0;
  double angle_hoh_degrees = 0.0;
  double lj_a_kcal_A12_per_mol = 0.0;
  double lj_c_kcal_A6_per_mol = 0.0;
  double charge_o_e = 0.0;
  double charge_h_e = 0.0;
  double charge_m_e = 0.0;  ///< on the massless site M of a four-site model
  double r_om_A = 0.0;      ///< 0 for three-site models
  double mass_o_Da = units::mass_oxygen_Da;
  double mass_h_Da = units::mass_hydrogen_Da;

  constexpr bool has_m_site() const { return r_om_A != 0.0; }
  /// Charge of the site that carries the negative charge: M if there is one, O otherwise.
  constexpr double negative_charge_e() const { return has_m_site() ? charge_m_e : charge_o_e; }
  /// Distance between the hydrogens, 2 r_OH sin(angle/2) [A].
  double r_hh_A() const;
  /// Weight w of r_M = r_O + w (r_H1 + r_H2 - 2 r_O); 0 for three-site models.
  double m_site_weight() const;
  /// Charge c of the molecule's dipole moment c (r_H1 + r_H2 - 2 r_O), its M site among it [e].
  double dipole_charge_e() const;
  /// Squared reference lengths of (O,H1), (O,H2), (H1,H2) [A^2].
  std::array<double, 3> squared_lengths_A2() const;
  /// Mass of atom 0 (O), 1 or 2 (H) [Da].
  constexpr double mass_Da(int atom) const { return atom == 0 ? mass_o_Da : mass_h_Da; }
  constexpr double molecule_mass_Da() const { return mass_o_Da + 2.0 * mass_h_Da; }
};

/// All models, in the order of the documentation.
inline constexpr std::array<WaterModel, 6> kWaterModels{{
    {"tip3p", 0.9572, 104.52, 582.0e3, 595.0, -0.834, 0.417, 0.0, 0.0},
    {"spc", 1.0, 109.47, 629.4e3, 625.5, -0.82, 0.41, 0.0, 0.0},
    {"spce", 1.0, 109.47, 629.4e3, 625.5, -0.8476, 0.4238, 0.0, 0.0},
    {"bf", 0.96, 105.7, 560.4e3, 837.0, 0.0, 0.49, -0.98, 0.15},
    {"tips2", 0.9572, 104.52, 695.0e3, 600.0, 0.0, 0.535, -1.07, 0.15},
    {"tip4p", 0.9572, 104.52, 600.0e3, 610.0, 0.0, 0.52, -1.04, 0.15},
}};

/// The model of that name, or nothing.
std::optional<WaterModel> find_water_model(std::string_view name);

}  // namespace tarn
