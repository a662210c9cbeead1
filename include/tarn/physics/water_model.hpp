#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tarn/core/units.hpp"

namespace tarn {

/// The potential of the O-H bonds of a model, equation (74); `rigid` has none.
enum class Stretch { rigid, harmonic, quartic, morse };

/// Models whose energy is not a sum over pairs: tarn/many_body.hpp.
enum class ManyBodyModel { none, mbpol, dang_chang };

/// The intramolecular potential of a flexible model, equations (74) and (75). Its minimum is the
/// geometry of the WaterModel.
struct IntramolecularModel {
  Stretch stretch = Stretch::rigid;
  double stretch_stiffness_kcal_per_mol_A2 = 0.0;  ///< harmonic
  double depth_kcal_per_mol = 0.0;                 ///< D, quartic and Morse
  double alpha_per_A = 0.0;                        ///< quartic and Morse
  double bend_stiffness_kcal_per_mol_rad2 = 0.0;
};

/// A water model: geometry, charges and Lennard-Jones A/r^12 - C/r^6 between oxygens. Molecules are
/// rigid, or flexible with an intramolecular potential.
///
/// Engines accept any model. Start from one of kWaterModels or kFlexibleWaterModels and change its
/// numbers. Energies and forces of a many-body model do not use these numbers: the charges are
/// those of the molecule at its minimum, and the intramolecular potential is an approximation for
/// estimates such as the number of beads.
struct WaterModel {
  std::string_view name;  ///< must outlive the model, as a literal does
  double r_oh_A = 0.0;
  double angle_hoh_degrees = 0.0;
  double lj_a_kcal_A12_per_mol = 0.0;
  double lj_c_kcal_A6_per_mol = 0.0;
  double charge_o_e = 0.0;
  double charge_h_e = 0.0;
  double charge_m_e = 0.0;  ///< on the massless site M of a four-site model
  double r_om_A = 0.0;      ///< 0 for three-site and for flexible models
  double mass_o_Da = units::mass_oxygen_Da;
  double mass_h_Da = units::mass_hydrogen_Da;
  /// gamma of r_M = gamma r_O + (1 - gamma)/2 (r_H1 + r_H2) of flexible models; 0: no M site.
  double m_site_gamma = 0.0;
  IntramolecularModel intramolecular{};
  ManyBodyModel many_body = ManyBodyModel::none;
  /// A uniform static field that acts on all charges; see units::field_from_V_per_nm().
  std::array<double, 3> field_kcal_per_mol_e_A{};

  constexpr bool is_many_body() const { return many_body != ManyBodyModel::none; }
  constexpr bool has_field() const { return field_kcal_per_mol_e_A != std::array<double, 3>{}; }
  constexpr bool is_flexible() const { return intramolecular.stretch != Stretch::rigid; }
  constexpr bool has_m_site() const { return r_om_A != 0.0 || m_site_gamma != 0.0; }
  /// Charge of the site that carries the negative charge: M if there is one, O otherwise.
  constexpr double negative_charge_e() const { return has_m_site() ? charge_m_e : charge_o_e; }
  /// Distance between the hydrogens, 2 r_OH sin(angle/2) [A]: equation (1).
  double r_hh_A() const;
  /// Weight w of r_M = r_O + w (r_H1 + r_H2 - 2 r_O), equation (2); 0 for three-site models.
  double m_site_weight() const;
  /// Charge c of the dipole moment c (r_H1 + r_H2 - 2 r_O), including the M site, equation (28)
  /// [e].
  double dipole_charge_e() const;
  /// Squared reference lengths of (O,H1), (O,H2), (H1,H2) [A^2].
  std::array<double, 3> squared_lengths_A2() const;
  /// Mass of atom 0 (O), 1 or 2 (H) [Da].
  constexpr double mass_Da(int atom) const { return atom == 0 ? mass_o_Da : mass_h_Da; }
  constexpr double molecule_mass_Da() const { return mass_o_Da + 2.0 * mass_h_Da; }
};

/// Sets the field of a model.
constexpr void set_field_V_per_nm(const std::array<double, 3>& field_V_per_nm, WaterModel& model) {
  for (std::size_t k = 0; k < 3; ++k) {
    model.field_kcal_per_mol_e_A[k] = units::field_from_V_per_nm(field_V_per_nm[k]);
  }
}

/// A = 4 epsilon sigma^12 and C = 4 epsilon sigma^6.
constexpr double lennard_jones(double sigma_A, double epsilon_kcal_per_mol, int power) {
  double result = 4.0 * epsilon_kcal_per_mol;
  for (int i = 0; i < power; ++i) result *= sigma_A;
  return result;
}
/// A model from published sigma and epsilon. In four-site models M has the negative charge.
constexpr WaterModel of_sigma_epsilon(std::string_view name, double r_oh_A, double angle_degrees,
                                      double sigma_A, double epsilon_kcal_per_mol,
                                      double charge_h_e, double r_om_A) {
  const double negative_e = -2.0 * charge_h_e;
  const bool m_site = r_om_A != 0.0;
  return {name,
          r_oh_A,
          angle_degrees,
          lennard_jones(sigma_A, epsilon_kcal_per_mol, 12),
          lennard_jones(sigma_A, epsilon_kcal_per_mol, 6),
          m_site ? 0.0 : negative_e,
          charge_h_e,
          m_site ? negative_e : 0.0,
          r_om_A};
}

/// A flexible model from published sigma, epsilon and gamma; 0: no M site.
constexpr WaterModel flexible_model(std::string_view name, double r_eq_A, double angle_degrees,
                                    double sigma_A, double epsilon_kcal_per_mol, double charge_h_e,
                                    double gamma, const IntramolecularModel& intramolecular) {
  WaterModel model =
      of_sigma_epsilon(name, r_eq_A, angle_degrees, sigma_A, epsilon_kcal_per_mol, charge_h_e, 0.0);
  if (gamma != 0.0) {
    model.charge_m_e = model.charge_o_e;
    model.charge_o_e = 0.0;
    model.m_site_gamma = gamma;
  }
  model.intramolecular = intramolecular;
  return model;
}

/// All rigid models, in the order of the documentation: Jorgensen et al. 1983, table I; SPC/E:
/// Berendsen et al. 1987; TIP4P-Ew: Horn et al. 2004; TIP4P/2005: Abascal & Vega 2005; TIP4P/Ice:
/// Abascal et al. 2005; OPC: Izadi et al. 2014; OPC3: Izadi & Onufriev 2016. The models from
/// TIP4P-Ew on were fitted with lattice sums, the others with cutoffs; tarn uses neither.
inline constexpr std::array<WaterModel, 11> kWaterModels{{
    {"tip3p", 0.9572, 104.52, 582.0e3, 595.0, -0.834, 0.417, 0.0, 0.0},
    {"spc", 1.0, 109.47, 629.4e3, 625.5, -0.82, 0.41, 0.0, 0.0},
    {"spce", 1.0, 109.47, 629.4e3, 625.5, -0.8476, 0.4238, 0.0, 0.0},
    {"bf", 0.96, 105.7, 560.4e3, 837.0, 0.0, 0.49, -0.98, 0.15},
    {"tips2", 0.9572, 104.52, 695.0e3, 600.0, 0.0, 0.535, -1.07, 0.15},
    {"tip4p", 0.9572, 104.52, 600.0e3, 610.0, 0.0, 0.52, -1.04, 0.15},
    of_sigma_epsilon("tip4pew", 0.9572, 104.52, 3.16435, 0.16275, 0.52422, 0.1250),
    of_sigma_epsilon("tip4p2005", 0.9572, 104.52, 3.1589, 93.2 * units::boltzmann_kcal_per_mol_K,
                     0.5564, 0.1546),
    of_sigma_epsilon("tip4pice", 0.9572, 104.52, 3.1668, 106.1 * units::boltzmann_kcal_per_mol_K,
                     0.5897, 0.1577),
    of_sigma_epsilon("opc", 0.8724, 103.6, 3.16655, 0.21280, 0.6791, 0.1594),
    of_sigma_epsilon("opc3", 0.97888, 109.47, 3.17427, 0.16341, 0.4476, 0.0),
}};

/// All flexible models: q-TIP4P/F: Habershon, Markland & Manolopoulos 2009; TIP4P/2005f: Gonzalez &
/// Abascal 2011; SPC/Fw: Wu, Tepper & Voth 2006; q-SPC/Fw: Paesani et al. 2006.
inline constexpr std::array<WaterModel, 4> kFlexibleWaterModels{{
    flexible_model("qtip4pf", 0.9419, 107.4, 3.1589, 0.1852, 0.5564, 0.73612,
                   {Stretch::quartic, 0.0, 116.09, 2.287, 87.85}),
    flexible_model("tip4p2005f", 0.9419, 107.4, 3.1644, 93.2 * units::boltzmann_kcal_per_mol_K,
                   0.5564, 0.73612,
                   {Stretch::morse, 0.0, 432.581 / units::kilojoules_per_kcal, 2.287,
                    367.81 / units::kilojoules_per_kcal}),
    flexible_model("spcfw", 1.012, 113.24, 3.165492, 0.1554253, 0.41, 0.0,
                   {Stretch::harmonic, 1059.162, 0.0, 0.0, 75.90}),
    flexible_model("qspcfw", 1.0, 112.0, 3.165492, 0.1554252, 0.42, 0.0,
                   {Stretch::harmonic, 1059.162, 0.0, 0.0, 75.90}),
}};

/// A model with the forces of tarn/many_body.hpp.
constexpr WaterModel many_body_model(ManyBodyModel many_body, WaterModel model) {
  model.many_body = many_body;
  return model;
}

/// All many-body models: MB-pol: Babin, Leforestier & Paesani 2013, with the stiffnesses of the
/// molecule at its minimum; Dang & Chang 1997.
inline constexpr std::array<WaterModel, 2> kManyBodyModels{{
    many_body_model(ManyBodyModel::mbpol,
                    flexible_model("mbpol", 0.957836445, 104.507764, 1.0, 0.0, 0.577334846,
                                   0.573293118, {Stretch::harmonic, 1217.65, 0.0, 0.0, 101.135})),
    many_body_model(ManyBodyModel::dang_chang,
                    of_sigma_epsilon("dang-chang", 0.9572, 104.52, 3.234, 0.1825, 0.519, 0.215)),
}};

/// All models: rigid, flexible, and many-body ones.
std::span<const WaterModel> water_models();

/// The names of the rigid and of the flexible models, separated by commas.
std::string rigid_model_names();
std::string flexible_model_names();

/// The model of water_models() with a name, or nothing.
std::optional<WaterModel> find_water_model(std::string_view name);

/// Name of a model that a deck defines itself.
inline constexpr std::string_view kOwnModel = "own";

}  // namespace tarn
