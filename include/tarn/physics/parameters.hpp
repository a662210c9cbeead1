#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/ou.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/physics/settle.hpp"
#include "tarn/system.hpp"

/// @file
/// From a water model and a system to the plain numbers that the formulas take.

namespace tarn {
inline namespace TARN_ARCH {

template <class S>
PairParameters<S> pair_parameters(const WaterModel& model) {
  const double k = units::coulomb_kcal_A_per_mol_e2;
  const double n = model.negative_charge_e(), h = model.charge_h_e;
  return {static_cast<S>(k * n * n),
          static_cast<S>(k * n * h),
          static_cast<S>(k * h * h),
          static_cast<S>(12.0 * model.lj_a_kcal_A12_per_mol),
          static_cast<S>(6.0 * model.lj_c_kcal_A6_per_mol),
          static_cast<S>(model.has_m_site() ? model.m_site_weight() : 0.0)};
}

inline Masses<double> masses(const WaterModel& model) {
  return {model.mass_o_Da, model.mass_h_Da, 1.0 / model.mass_o_Da, 1.0 / model.mass_h_Da};
}

inline BondReference<double> bond_reference(const WaterModel& model) {
  const std::array<double, 3> r2 = model.squared_lengths_A2();
  return {r2[0], r2[2]};
}

inline ZssParameters<double> zss_parameters(const IntegratorSpec& s) {
  const double bh2 = s.beta * s.timestep_akma * s.timestep_akma;
  return {1.0 / bh2, 1.0 / (bh2 * s.omega * s.omega)};
}

inline SettleParameters<double> settle_parameters(const WaterModel& model) {
  const double rc = 0.5 * model.r_hh_A();
  const double height = __builtin_sqrt(model.r_oh_A * model.r_oh_A - rc * rc);
  const double total = model.molecule_mass_Da();
  const double ra = 2.0 * model.mass_h_Da / total * height;
  return {ra, height - ra, rc, model.mass_o_Da / total, model.mass_h_Da / total};
}

inline OuParameters<double> ou_parameters(const WaterModel& model, const ThermostatSpec& t,
                                          double timestep_akma) {
  const double kT = units::boltzmann_kcal_per_mol_K * t.temperature_K;
  const auto kick = [&](double rate, double mass) {
    // 1 - exp(-2 rate h) without cancellation.
    return __builtin_sqrt(kT / mass * -__builtin_expm1(-2.0 * rate * timestep_akma));
  };
  return {__builtin_exp(-t.friction_oxygen_per_akma * timestep_akma),
          __builtin_exp(-t.friction_hydrogen_per_akma * timestep_akma),
          kick(t.friction_oxygen_per_akma, model.mass_o_Da),
          kick(t.friction_hydrogen_per_akma, model.mass_h_Da)};
}

}  // namespace TARN_ARCH
}  // namespace tarn
