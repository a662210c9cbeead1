#pragma once

#include <cstdint>
#include <vector>

#include "tarn/physics/water_model.hpp"

namespace tarn {

enum class Scheme {
  zss_stiff,
  pushforward_newmark,
  newmark_one_step,
  verlet,
  shake,
  rattle,
  settle
};
/// Of the penalty: J^T J only, or all of it; of the penalty and the non-bonded energy: the blocks
/// of single molecules, or all of it.
enum class Hessian { gauss_newton, full, molecule, total };
enum class Solver { structured, dense };
/// How SHAKE iterates: Newton on the three bonds of a molecule, or bond by bond.
enum class ShakeIteration { newton, sweeps };
enum class Thermostat { none, gla, baoab };
enum class Precision { double_, mixed, single };

/// True for the schemes that hold the bonds by constraints and not by a penalty.
constexpr bool is_rigid(Scheme scheme) {
  return scheme == Scheme::shake || scheme == Scheme::rattle || scheme == Scheme::settle;
}

/// True for the schemes of Newmark's family, which have the scheme parameter b.
constexpr bool has_beta(Scheme scheme) {
  return scheme == Scheme::zss_stiff || scheme == Scheme::pushforward_newmark ||
         scheme == Scheme::newmark_one_step;
}
/// True for the schemes whose own positions are pushed forward: q = x + b h^2 a is reported.
constexpr bool uses_pushforward(Scheme scheme) {
  return scheme == Scheme::zss_stiff || scheme == Scheme::pushforward_newmark;
}

/// Most molecules of a system whose whole Hessian is factorised at every step.
inline constexpr int kMaxTotalHessianMolecules = 128;

/// One deterministic step; what a scheme does not use is ignored (decks refuse it).
struct IntegratorSpec {
  Scheme scheme = Scheme::zss_stiff;
  double timestep_akma = 0.0;
  /// Scheme parameter b of Newmark's family (TO 2.1 to 2.6).
  double beta = 0.42;
  /// Penalty strength [sqrt(kcal/mol)/A^2]; infinity is allowed where only J^T J is
  /// needed: Gauss-Newton and push-forward Newmark.
  double omega = 100.0;
  Hessian hessian = Hessian::gauss_newton;
  Solver solver = Solver::structured;
  /// SHAKE: largest relative position change at which the iteration stops; in single precision at
  /// least kLeastSingleTolerance.
  double tolerance = 1e-8;
  ShakeIteration iteration = ShakeIteration::newton;
};

/// True where the matrices of the linear solves are written out and factorised.
constexpr bool uses_dense_solver(const IntegratorSpec& i) {
  return i.scheme == Scheme::zss_stiff &&
         (i.solver == Solver::dense || i.hessian == Hessian::molecule ||
          i.hessian == Hessian::total);
}

/// True for the steps that single precision has (steps/single.hpp).
constexpr bool supports_single_precision(const IntegratorSpec& i) {
  return is_rigid(i.scheme) || i.scheme == Scheme::verlet ||
         (i.scheme == Scheme::zss_stiff && !uses_dense_solver(i));
}

/// The Ornstein-Uhlenbeck step; rates differ when friction is given per mass.
struct ThermostatSpec {
  Thermostat kind = Thermostat::none;
  double temperature_K = 0.0;
  /// Not empty: the temperature of replica id r is element r modulo the length, in place of the
  /// one above.
  std::vector<double> temperatures_K;
  double friction_oxygen_per_akma = 0.0;
  double friction_hydrogen_per_akma = 0.0;
};

/// A flat-bottom wall about the centre of mass that acts on oxygens; off when stiffness is 0.
struct ConfinementSpec {
  double radius_A = 0.0;
  double stiffness_kcal_per_mol_A2 = 0.0;
};

/// Everything an engine must know beside the State; internal units.
struct System {
  WaterModel model;
  int molecules = 0;
  IntegratorSpec integrator;
  ThermostatSpec thermostat;
  ConfinementSpec confinement;
  /// The start neither moves nor turns as a whole, and no noise sets it in motion: six degrees of
  /// freedom stay without energy, and temperatures do not count them.
  bool zero_momentum = false;
  std::uint64_t seed = 1;
  Precision precision = Precision::double_;
};

/// Precision of the pair forces: push-forward Newmark, which is solved to round-off, would never
/// get there with floats.
inline Precision pair_force_precision(const System& s) {
  return s.integrator.scheme == Scheme::pushforward_newmark ? Precision::double_ : s.precision;
}

}  // namespace tarn
