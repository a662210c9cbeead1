#pragma once

#include "tarn/core/host_device.hpp"
#include "tarn/system.hpp"

/// @file
/// Parameters of the formulas, and their computation from a water model and a system. They are
/// scalars, the same for all instruction sets.

namespace tarn {

/// Masses of a molecule and their inverses [Da, 1/Da].
template <class S>
struct Masses {
  S o, h, inverse_o, inverse_h;
  S fraction_h;  ///< mass of a hydrogen over that of the molecule
  S w;           ///< inverse mass of s over that of d (see JacobiVectors)

  TARN_HD const S& h1() const { return h; }
  TARN_HD const S& h2() const { return h; }
  TARN_HD const S& inverse_h1() const { return inverse_h; }
  TARN_HD const S& inverse_h2() const { return inverse_h; }
};

/// Masses of a molecule of isotopes, whose hydrogens may differ. T is a number, or a pack of
/// molecules.
template <class T>
struct AtomMasses {
  T o, first, second, inverse_o, inverse_first, inverse_second;
  T inverse_all;  ///< of the mass of the molecule

  TARN_HD const T& h1() const { return first; }
  TARN_HD const T& h2() const { return second; }
  TARN_HD const T& inverse_h1() const { return inverse_first; }
  TARN_HD const T& inverse_h2() const { return inverse_second; }
};

/// Squared reference lengths [A^2].
template <class S>
struct BondReference {
  S oh2, hh2;
};

/// Products of charges times the Coulomb constant [kcal A/mol], and Lennard-Jones parameters.
/// N is the negative site: O in three-site models, M in four-site models.
template <class S>
struct PairParameters {
  S qq_nn, qq_nh, qq_hh;
  S lj_12a;    ///< 12 A [kcal A^12/mol]
  S lj_6c;     ///< 6 C [kcal A^6/mol]
  S m_weight;  ///< w of r_M = r_O + w (r_H1 + r_H2 - 2 r_O), equation (2)
};

/// Constants of the intramolecular potential, equations (74) and (75). Harmonic and quartic bonds
/// have k2, k3 and k4; Morse bonds have depth and alpha.
template <class S>
struct FlexibleParameters {
  S r_eq;      ///< [A]
  S angle_eq;  ///< theta_eq - pi/2 [rad]
  S bend;      ///< [kcal/mol/rad^2]
  S k2, k3, k4;
  S depth, alpha;     ///< [kcal/mol, 1/A]
  S least_curvature;  ///< of a Morse bond in a linear solve: V'' at a tenth of the depth, r > r_eq
  bool is_morse;
};

/// Constants of Z&Ss for stiff systems (TO 2.6, equation (11)).
template <class S>
struct ZssParameters {
  S inverse_bh2;    ///< 1/(b h^2)
  S inverse_bh2w2;  ///< 1/(b h^2 omega^2); 0 when omega is infinite
};

/// Constants of the rigid triangle, equation (19). Its vectors s and d (see JacobiVectors) have the
/// lengths l_s and l_d and are orthogonal; w is the inverse mass of s over that of d.
template <class S>
struct SettleParameters {
  S inverse_s, inverse_d;  ///< 1/l_s, 1/l_d [1/A]
  S s_over_d, d_over_s;    ///< l_s/l_d, l_d/l_s
  S inertia_s, inertia_d;  ///< l_s^2 and w l_d^2 over their sum: fractions of the moment of inertia
                           ///< about the normal
  S inverse_turn;          ///< 1/(l_s^2 + w l_d^2) [1/A^2]
};

/// The exact Ornstein-Uhlenbeck flow over one step for each atom, TO (4.5) and equation (21):
/// v <- decay v + kick xi with decay = exp(-rate h) and kick = sqrt(kT/m (1 - decay^2)).
template <class S>
struct OuParameters {
  S decay_o, decay_h;
  S kick_o, kick_h;  ///< [A/akma]
};

/// The same for a molecule of isotopes.
template <class T>
struct AtomOuParameters {
  T decay_o, decay_h1, decay_h2;
  T kick_o, kick_h1, kick_h2;
};

/// A wall that acts on oxygens beyond a radius R from the centre of mass of the cluster:
/// V = K/2 max(0, r - R)^2, equation (24). The centre moves with the molecules, so that the cluster
/// takes the recoil: the sum of the wall's forces is subtracted from all atoms, in proportion to
/// mass. A uniform field acts on the charges, equation (96).
template <class S>
struct OutsideForces {
  S radius;     ///< R [A]
  S stiffness;  ///< K [kcal/mol/A^2]; 0: no wall
  S field[3];   ///< force on a hydrogen [kcal/mol/A]; that on an oxygen is -2 times as large

  constexpr bool act() const {
    return stiffness > S(0) || field[0] != S(0) || field[1] != S(0) || field[2] != S(0);
  }
};
inline OutsideForces<float> rounded_to_float(const OutsideForces<double>& o) {
  const auto f = [](double number) { return static_cast<float>(number); };
  return {f(o.radius), f(o.stiffness), {f(o.field[0]), f(o.field[1]), f(o.field[2])}};
}

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
  return {model.mass_o_Da,
          model.mass_h_Da,
          1.0 / model.mass_o_Da,
          1.0 / model.mass_h_Da,
          model.mass_h_Da / model.molecule_mass_Da(),
          model.molecule_mass_Da() / model.mass_o_Da};
}

inline AtomMasses<double> atom_masses(const std::array<double, 3>& m) {
  return {m[0], m[1], m[2], 1.0 / m[0], 1.0 / m[1], 1.0 / m[2], 1.0 / (m[0] + (m[1] + m[2]))};
}

/// Masses of the molecules of a cluster.
struct ClusterMasses {
  ClusterMasses(const WaterModel& water) : model(masses(water)) {}
  ClusterMasses(const System& system) : ClusterMasses(system.model, system.atom_masses_Da) {}
  /// @param atom_masses_Da see System
  ClusterMasses(const WaterModel& water, const std::vector<std::array<double, 3>>& atom_masses_Da)
      : model(masses(water)) {
    for (const auto& m : atom_masses_Da) isotopes.push_back(atom_masses(m));
  }
  /// op(Masses) or op(AtomMasses) of a molecule; numbers beyond the cluster are those of replicas.
  template <class Op>
  auto of(std::size_t molecule, const Op& op) const {
    return isotopes.empty() ? op(model) : op(isotopes[molecule % isotopes.size()]);
  }
  double molecule_Da(std::size_t molecule) const {
    return of(molecule, [](const auto& m) { return m.o + (m.h1() + m.h2()); });
  }
  double atom_Da(std::size_t molecule, std::size_t atom) const {
    return of(molecule, [&](const auto& m) {
      return atom == 0 ? m.o : atom == 1 ? m.h1() : m.h2();
    });
  }
  /// Of the first `molecules`.
  double cluster_Da(std::size_t molecules) const {
    if (isotopes.empty()) return static_cast<double>(molecules) * molecule_Da(0);
    double sum = 0.0;
    for (std::size_t m = 0; m < molecules; ++m) sum += molecule_Da(m);
    return sum;
  }
  /// Mass of a molecule over that of all.
  double share(std::size_t molecule, std::size_t molecules) const {
    if (isotopes.empty()) return 1.0 / static_cast<double>(molecules);
    return molecule_Da(molecule) / cluster_Da(molecules);
  }

  Masses<double> model;
  std::vector<AtomMasses<double>> isotopes;  ///< empty: all molecules have the masses of the model
};

inline BondReference<double> bond_reference(const WaterModel& model) {
  const std::array<double, 3> r2 = model.squared_lengths_A2();
  return {r2[0], r2[2]};
}

inline FlexibleParameters<double> flexible_parameters(const WaterModel& model) {
  const IntramolecularModel& bonds = model.intramolecular;
  FlexibleParameters<double> p{};
  p.r_eq = model.r_oh_A;
  p.angle_eq = (model.angle_hoh_degrees / 180.0 - 0.5) * units::pi;
  p.bend = bonds.bend_stiffness_kcal_per_mol_rad2;
  const double d = bonds.depth_kcal_per_mol, alpha = bonds.alpha_per_A;
  if (bonds.stretch == Stretch::harmonic) {
    p.k2 = 0.5 * bonds.stretch_stiffness_kcal_per_mol_A2;
  } else if (bonds.stretch == Stretch::quartic) {
    p.k2 = d * alpha * alpha;
    p.k3 = -p.k2 * alpha;
    p.k4 = 7.0 / 12.0 * p.k2 * alpha * alpha;
  } else if (bonds.stretch == Stretch::morse) {
    p.is_morse = true;
    p.depth = d;
    p.alpha = alpha;
    const double e = 1.0 - __builtin_sqrt(0.1);  // exp(-alpha s) there
    p.least_curvature = 2.0 * d * alpha * alpha * e * (2.0 * e - 1.0);
  }
  return p;
}

inline ZssParameters<double> zss_parameters(const IntegratorSpec& s) {
  const double bh2 = s.beta * s.timestep_akma * s.timestep_akma;
  return {1.0 / bh2, 1.0 / (bh2 * s.omega * s.omega)};
}

inline SettleParameters<double> settle_parameters(const WaterModel& model) {
  const double l_d = model.r_hh_A();
  const double d2 = l_d * l_d, s2 = 4.0 * model.r_oh_A * model.r_oh_A - d2;
  const double l_s = __builtin_sqrt(s2);
  const double wd2 = masses(model).w * d2, turn = s2 + wd2;
  return {1.0 / l_s, 1.0 / l_d, l_s / l_d, l_d / l_s, s2 / turn, wd2 / turn, 1.0 / turn};
}

/// The kick of O for an atom: sqrt(kT/m (1 - exp(-2 rate h))), without cancellation.
inline double ou_kick(const ThermostatSpec& t, double rate, double mass, double timestep_akma) {
  const double kT = units::boltzmann_kcal_per_mol_K * t.temperature_K;
  return __builtin_sqrt(kT / mass * -__builtin_expm1(-2.0 * rate * timestep_akma));
}
inline OuParameters<double> ou_parameters(const WaterModel& model, const ThermostatSpec& t,
                                          double timestep_akma) {
  const auto kick = [&](double rate, double mass) { return ou_kick(t, rate, mass, timestep_akma); };
  return {__builtin_exp(-t.friction_oxygen_per_akma * timestep_akma),
          __builtin_exp(-t.friction_hydrogen_per_akma * timestep_akma),
          kick(t.friction_oxygen_per_akma, model.mass_o_Da),
          kick(t.friction_hydrogen_per_akma, model.mass_h_Da)};
}
/// The same for a molecule of isotopes. Rates of O and H that differ are those of a friction per
/// mass.
inline AtomOuParameters<double> ou_parameters(const WaterModel& model,
                                              const std::array<double, 3>& masses_Da,
                                              const ThermostatSpec& t, double timestep_akma) {
  const bool per_mass = t.friction_oxygen_per_akma != t.friction_hydrogen_per_akma;
  double decay[3], kick[3];
  for (int atom = 0; atom < 3; ++atom) {
    const double mass = masses_Da[static_cast<std::size_t>(atom)];
    double rate = atom == 0 ? t.friction_oxygen_per_akma : t.friction_hydrogen_per_akma;
    if (per_mass) rate *= model.mass_Da(atom) / mass;
    decay[atom] = __builtin_exp(-rate * timestep_akma);
    kick[atom] = ou_kick(t, rate, mass, timestep_akma);
  }
  return {decay[0], decay[1], decay[2], kick[0], kick[1], kick[2]};
}

}  // namespace tarn
