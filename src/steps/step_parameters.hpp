#pragma once

#include <cstdint>

#include "tarn/core/replica_map.hpp"
#include "tarn/physics/parameters.hpp"

/// @file
/// Parameters of a step, the same for all engines and instruction sets.

namespace tarn {

/// The variants of the drift and of the end of a step.
enum class Move { free, newmark, newmark_full, newton, sweeps, settle };
enum class End { gauss_newton, full, verlet, kick, rattle, settle, flexible_verlet, flexible_zss };
constexpr bool is_flexible(End end) {
  return end == End::flexible_verlet || end == End::flexible_zss;
}

/// A replica with a squared speed above this [A^2/akma^2] (about 2000 A/ps), or NaN, has blown up.
inline constexpr double kLargestSpeed2 = 1e4;
/// Largest time step in single precision [akma]. Atoms that are too fast are then detected before
/// they can leave the range of fixed-point positions (single.hpp).
inline constexpr double kLargestSingleStep = 0.25;
/// Smallest tolerance of SHAKE in single precision, eight float roundings: a squared length has
/// about five, and moving one bond changes the two others.
inline constexpr double kLeastSingleTolerance = 5e-7;
/// Smallest h omega in single precision: the solve of Z&Ss cubes 1/(b h^2 omega^2).
inline constexpr double kLeastSingleHOmega = 1e-5;
/// Engines keep the state at steps that are multiples of this, as the last good state of a replica
/// that blows up.
inline constexpr std::int64_t kKeptSteps = 64;

/// SETTLE has no tolerance. With isotopes it is Newton's iteration, which converges quadratically:
/// the last change is far below the rounding.
inline constexpr double kSettledTolerance = 1e-12;

/// Parameters of a step; those that a scheme does not use are ignored. M and Ou are AtomMasses and
/// AtomOuParameters for a molecule of isotopes.
template <class S, class M = Masses<S>, class Ou = OuParameters<S>>
struct StepNumbers {
  S h;
  S omega;
  BondReference<S> bonds;
  FlexibleParameters<S> flexible;
  M masses;
  ZssParameters<S> zss;
  SettleParameters<S> settle;
  S shake_tolerance;
  Ou ou;
  std::uint64_t seed;
  /// b h^2 for push-forward schemes, else 0: reported positions are x + bh2 a.
  S bh2;
};
using StepParameters = StepNumbers<double>;

inline OutsideForces<double> outside_forces(const System& s) {
  OutsideForces<double> o{s.confinement.radius_A, s.confinement.stiffness_kcal_per_mol_A2, {}};
  // Induced dipoles feel the field too, and are those of the many-body model.
  const double charge_e = s.model.is_many_body() ? 0.0 : s.model.dipole_charge_e();
  for (std::size_t k = 0; k < 3; ++k) o.field[k] = charge_e * s.model.field_kcal_per_mol_e_A[k];
  return o;
}

/// The parameters with the masses and the noise of a molecule of isotopes.
template <class S, class T>
TARN_HD StepNumbers<S, AtomMasses<T>, AtomOuParameters<T>> with_isotopes(
    const StepNumbers<S>& q, const AtomMasses<T>& masses, const AtomOuParameters<T>& ou) {
  return {q.h,      q.omega,           q.bonds, q.flexible, masses, q.zss,
          q.settle, q.shake_tolerance, ou,      q.seed,     q.bh2};
}

inline StepParameters step_parameters(const System& system) {
  const IntegratorSpec& i = system.integrator;
  StepParameters p{};
  p.h = i.timestep_akma;
  p.omega = i.omega;
  p.bonds = bond_reference(system.model);
  p.flexible = flexible_parameters(system.model);
  p.masses = masses(system.model);
  if (has_beta(i.scheme)) p.zss = zss_parameters(i);
  p.settle = settle_parameters(system.model);
  p.shake_tolerance = i.scheme == Scheme::settle ? kSettledTolerance : i.tolerance;
  p.ou = ou_parameters(system.model, system.thermostat, i.timestep_akma);
  p.seed = system.seed;
  p.bh2 = uses_pushforward(i.scheme) ? i.beta * i.timestep_akma * i.timestep_akma : 0.0;
  return p;
}

/// Parameters of a step in single precision. The kick of the noise is computed from the rounded
/// decay, so that the temperature is correct for any friction; a friction below 2^-25 over the time
/// step rounds to zero, and its noise too. The tolerance of SHAKE is at least
/// kLeastSingleTolerance.
inline StepNumbers<float> rounded_to_float(const StepParameters& p) {
  const auto f = [](double a) { return static_cast<float>(a); };
  const auto kick_of = [&](double decay, double kick) {
    const double rounded = f(decay), loss = 1.0 - decay * decay;
    return f(loss > 0.0 ? kick * __builtin_sqrt((1.0 - rounded * rounded) / loss) : 0.0);
  };
  StepNumbers<float> r{};
  r.h = f(p.h);
  r.omega = f(p.omega);
  r.bonds = {f(p.bonds.oh2), f(p.bonds.hh2)};
  const FlexibleParameters<double>& bonds = p.flexible;
  r.flexible = {f(bonds.r_eq),  f(bonds.angle_eq), f(bonds.bend),
                f(bonds.k2),    f(bonds.k3),       f(bonds.k4),
                f(bonds.depth), f(bonds.alpha),    f(bonds.least_curvature),
                bonds.is_morse};
  r.masses = {f(p.masses.o),         f(p.masses.h),          f(p.masses.inverse_o),
              f(p.masses.inverse_h), f(p.masses.fraction_h), f(p.masses.w)};
  r.zss = {f(p.zss.inverse_bh2), f(p.zss.inverse_bh2w2)};
  r.settle = {f(p.settle.inverse_s),   f(p.settle.inverse_d), f(p.settle.s_over_d),
              f(p.settle.d_over_s),    f(p.settle.inertia_s), f(p.settle.inertia_d),
              f(p.settle.inverse_turn)};
  r.shake_tolerance =
      f(p.shake_tolerance < kLeastSingleTolerance ? kLeastSingleTolerance : p.shake_tolerance);
  r.ou = {f(p.ou.decay_o), f(p.ou.decay_h), kick_of(p.ou.decay_o, p.ou.kick_o),
          kick_of(p.ou.decay_h, p.ou.kick_h)};
  r.seed = p.seed;
  r.bh2 = f(p.bh2);
  return r;
}

/// The variants that a scheme uses. `end` is ignored if accelerations are solved elsewhere (dense
/// solves, push-forward Newmark).
struct StepPasses {
  Move move = Move::free;
  End end = End::gauss_newton;
};

inline StepPasses step_passes(const System& system) {
  const IntegratorSpec& i = system.integrator;
  if (system.model.is_flexible()) {
    return {Move::free, i.scheme == Scheme::verlet ? End::flexible_verlet : End::flexible_zss};
  }
  if (is_rigid(i.scheme)) {
    const Move move = i.scheme == Scheme::settle && !system.has_isotopes() ? Move::settle
                      : i.iteration == ShakeIteration::sweeps              ? Move::sweeps
                                                                           : Move::newton;
    // With noise the bond part of the velocities is left to the next drift, as in SHAKE.
    const bool keeps_bond_part =
        system.thermostat.kind != Thermostat::none || i.scheme == Scheme::shake;
    return {move, keeps_bond_part ? End::kick : move == Move::settle ? End::settle : End::rattle};
  }
  const bool full = i.hessian == Hessian::full;
  if (i.scheme == Scheme::verlet) return {Move::free, End::verlet};
  if (i.scheme == Scheme::newmark_one_step) {
    return {full ? Move::newmark_full : Move::newmark, End::verlet};
  }
  return {Move::free, full ? End::full : End::gauss_newton};
}

/// sqrt(T/T0) of a replica with temperature T; T0 is the temperature of ou_parameters().
inline double kick_scale_of(const ThermostatSpec& t, std::int64_t replica_id) {
  if (t.temperatures_K.empty() || t.temperature_K <= 0.0) return 1.0;
  const std::size_t k = ReplicaMap(t.temperatures_K.size()).place(replica_id);
  return __builtin_sqrt(t.temperatures_K[k] / t.temperature_K);
}

}  // namespace tarn
