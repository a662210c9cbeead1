#pragma once

#include "physics/bias.hpp"
#include "physics/exchange.hpp"
#include "physics/flexible.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/penalty.hpp"
#include "step_parameters.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/measured.hpp"

/// @file
/// Energies, temperatures and momenta of a cluster as sums over its molecules: what each molecule
/// adds, and the row of a replica that follows from the sums. Engines add the terms in an order
/// that depends on the number of molecules only.

namespace tarn {

/// Numbers and choices that measurements need, as plain data.
struct MeasureNumbers {
  StepParameters step;
  OutsideForces<double> outside;
  int molecules;
  double beta;  ///< of the scheme; 0 where it has none
  bool rigid, flexible, baoab;
  bool penalty_by_multipliers;  ///< y.y / (2 omega^2) of Z&Ss; else omega^2/2 g.g
  bool has_penalty;             ///< of finite stiffness
  bool infinitely_stiff;        ///< bonds without a finite penalty, in schemes with beta
  bool solved_at_q;             ///< bonds are solved at the reported positions
  /// Whether bond_multipliers() needs forces. Accelerations do not determine the multipliers if
  /// bonds are infinitely stiff, or if they were computed from projected forces.
  bool multipliers_need_forces;
  bool motionless;  ///< centre of mass and rotation are at rest
  double dipole_charge_e;
  Biases biases;
};

inline MeasureNumbers measure_numbers(const System& system) {
  const IntegratorSpec& i = system.integrator;
  MeasureNumbers q{};
  q.step = step_parameters(system);
  q.outside = outside_forces(system);
  q.molecules = system.molecules;
  q.beta = has_beta(i.scheme) ? i.beta : 0.0;
  q.rigid = is_rigid(i.scheme);
  q.baoab = system.thermostat.kind == Thermostat::baoab;
  q.flexible = system.model.is_flexible();
  q.penalty_by_multipliers = i.scheme == Scheme::zss_stiff;
  const bool finite = q.flexible || i.omega - i.omega == 0.0;
  q.has_penalty = !q.rigid && !q.flexible && finite;
  q.infinitely_stiff = has_beta(i.scheme) && !finite;
  q.solved_at_q = i.scheme == Scheme::pushforward_newmark;
  q.multipliers_need_forces = q.rigid ? system.precision == Precision::single : !finite;
  q.motionless = system.zero_momentum;
  q.dipole_charge_e = system.model.dipole_charge_e();
  q.biases = biases_of(system);
  return q;
}

inline namespace TARN_ARCH {

/// A molecule as it is measured.
template <class T>
struct MeasuredMolecule {
  Triple<T> x;  ///< the scheme's own positions [A]
  Triple<T> v;  ///< velocities [A/akma]
  Triple<T> a;  ///< accelerations that are kept from step to step [A/akma^2]
  Triple<T> q;  ///< reported positions [A]
  /// Velocities right after the noise of BAOAB; not numbers before the first noise, and unused with
  /// other thermostats.
  Triple<T> v_thermal;
};

/// Centres of a cluster, from CentreTerm.
template <class T>
struct Centres {
  Vec3<T> mass_q, mass_x;  ///< of mass, of the reported and of the own positions [A]
  Vec3<T> oxygens_q;       ///< mean of the oxygens [A]
};
struct CentreTerm {
  enum Number { kMassQ, kMassX = 3, kOxygens = 6, kNumbers = 9 };
};
/// @param mass Masses or AtomMasses of the molecule, here and below
template <class T, class M>
TARN_HD void centre_terms(const M& mass, const Triple<T>& q, const Triple<T>& x,
                          T (&out)[CentreTerm::kNumbers]) {
  const auto put = [&](int first, const Vec3<T>& a) {
    out[first] = a.x;
    out[first + 1] = a.y;
    out[first + 2] = a.z;
  };
  put(CentreTerm::kMassQ, mass_moment(q, mass));
  put(CentreTerm::kMassX, mass_moment(x, mass));
  put(CentreTerm::kOxygens, q.o);
}
/// @param all_Da mass of all molecules
template <class T>
TARN_HD Centres<T> centres_of(int molecules, double all_Da, const T (&sum)[CentreTerm::kNumbers]) {
  const auto vec3 = [&](int first) -> Vec3<T> {
    return {sum[first], sum[first + 1], sum[first + 2]};
  };
  const T by_mass(1.0 / all_Da), by_number(1.0 / molecules);
  return {by_mass * vec3(CentreTerm::kMassQ), by_mass * vec3(CentreTerm::kMassX),
          by_number * vec3(CentreTerm::kOxygens)};
}

/// What a molecule adds to the numbers of its replica. The constraint is a maximum, all others are
/// sums. Inertia tensors, xx yy zz xy xz yz, are needed where the cluster is motionless.
struct EnergyTerm {
  enum Number {
    kKinetic,
    kThermal,  ///< kinetic, of the velocities right after the noise; its parts follow
    kTranslation,
    kRotation,
    kBonds,
    kBondEnergy,
    kWall,
    kField,
    kAccelerations,  ///< a.M a
    kMomentum,
    kAngularMomentum = kMomentum + 3,
    kConstraint = kAngularMomentum + 3,
    kNumbers
  };
};
struct InertiaTerm {
  enum Number { kMolecules, kAtoms = 6, kNumbers = 12 };
};

/// Where v_thermal were: the noise of BAOAB comes half a drift before x, and the velocity before
/// the last kick led from there to x.
template <class T>
TARN_HD Triple<T> positions_at_noise(const MeasureNumbers& n, const MeasuredMolecule<T>& m) {
  const T minus_half(-0.5 * n.step.h);
  return fma(minus_half, fma(minus_half, m.a, m.v), m.x);
}
/// Velocities of rigid molecules onto the constraints, each where it was: steps leave them what
/// they have along the bonds.
template <class T, class M>
TARN_HD void project_measured(const MeasureNumbers& n, const M& mass, MeasuredMolecule<T>& m) {
  if (n.baoab) {
    m.v_thermal = project_velocities(positions_at_noise(n, m), m.v_thermal, mass);
  }
  m.v = project_velocities(m.x, m.v, mass);
}

template <class T>
TARN_HD Triple<T> select_atoms(const mask_t<T>& mask, const Triple<T>& yes, const Triple<T>& no) {
  const auto vec3 = [&](const Vec3<T>& a, const Vec3<T>& b) -> Vec3<T> {
    return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
  };
  return {vec3(yes.o, no.o), vec3(yes.h1, no.h1), vec3(yes.h2, no.h2)};
}

/// @param m of rigid schemes after project_measured()
template <class T, class M>
TARN_HD void energy_terms(const MeasureNumbers& n, const M& mass, const MeasuredMolecule<T>& m,
                          const Vec3<T>& centre, T (&out)[EnergyTerm::kNumbers]) {
  const T half(0.5), zero(0.0);
  const auto kinetic = [&](const Triple<T>& v) { return half * weighted_norm2(mass, v); };
  Triple<T> hot = m.v, hot_x = m.x;
  if (n.baoab) {
    const mask_t<T> noise_was_before = m.v_thermal.o.x == m.v_thermal.o.x;
    hot = select_atoms(noise_was_before, m.v_thermal, m.v);
    hot_x = select_atoms(noise_was_before, positions_at_noise(n, m), m.x);
  }
  const T all = kinetic(hot);
  const T rigid = n.rigid ? all : kinetic(project_velocities(hot_x, hot, mass));
  const T moving = T(0.5 / molecule_mass(mass)) * norm2(mass_moment(hot, mass));
  out[EnergyTerm::kKinetic] = kinetic(m.v);
  out[EnergyTerm::kThermal] = all;
  out[EnergyTerm::kTranslation] = moving;
  out[EnergyTerm::kRotation] = rigid - moving;
  out[EnergyTerm::kBonds] = all - rigid;
  const BondValues<T> g = constraint_values(bonds(m.q), n.step.bonds);
  T bond = zero;
  if (n.flexible) {
    bond = intramolecular_energy(m.q, n.step.flexible);
  } else if (n.has_penalty && n.penalty_by_multipliers) {
    const BondValues<T> y = zss_multipliers(m.x, m.a, n.step.bonds, n.step.bh2, n.step.omega);
    bond = T(0.5 / (n.step.omega * n.step.omega)) * (y.oh1 * y.oh1 + y.oh2 * y.oh2 + y.hh * y.hh);
  } else if (n.has_penalty) {
    bond = penalty_energy(m.q, n.step.bonds, n.step.omega);
  }
  out[EnergyTerm::kBondEnergy] = bond;
  const bool outside = n.outside.act();
  out[EnergyTerm::kWall] = outside ? wall_energy(m.q.o - centre, n.outside) : zero;
  out[EnergyTerm::kField] = outside ? field_energy(m.q, n.outside) : zero;
  out[EnergyTerm::kAccelerations] = n.beta > 0.0 ? weighted_norm2(mass, m.a) : zero;
  const Triple<T> momentum = times_masses(mass, m.v);
  const Vec3<T> p = total(momentum);
  const Vec3<T> l =
      cross(m.x.o, momentum.o) + cross(m.x.h1, momentum.h1) + cross(m.x.h2, momentum.h2);
  const T vectors[6] = {p.x, p.y, p.z, l.x, l.y, l.z};
  for (int k = 0; k < 6; ++k) out[EnergyTerm::kMomentum + k] = vectors[k];
  if (n.flexible) {
    out[EnergyTerm::kConstraint] = zero;
    return;
  }
  out[EnergyTerm::kConstraint] = max(abs(g.oh1), max(abs(g.oh2), abs(g.hh)));
}

/// Instantaneous multipliers of the bonds of a molecule, equations (14) and (31) [kcal/mol/A^2];
/// not numbers for flexible models.
/// @param m of rigid schemes with velocities on the constraints
/// @param f forces with those of the wall, at the own or, if solved there, the reported positions;
///        unused unless multipliers_need_forces
template <class T, class M>
TARN_HD BondValues<T> bond_multipliers(const MeasureNumbers& n, const M& mass,
                                       const MeasuredMolecule<T>& m, const Triple<T>& f) {
  const StepParameters& p = n.step;
  if (n.flexible) return {T(kNoNumber), T(kNoNumber), T(kNoNumber)};
  if (n.rigid) {
    const Triple<T> on = n.multipliers_need_forces ? f : times_masses(mass, m.a);
    return rigid_multipliers(m.x, m.v, on, mass);
  }
  const auto times = [](const T& s, const BondValues<T>& b) -> BondValues<T> {
    return {s * b.oh1, s * b.oh2, s * b.hh};
  };
  if (n.penalty_by_multipliers && !n.multipliers_need_forces) {
    return zss_multipliers(m.x, m.a, p.bonds, p.bh2, p.omega);
  }
  const Bonds<T> b = bonds(n.solved_at_q ? m.q : m.x);
  const BondValues<T> g = constraint_values(b, p.bonds);
  if (!n.multipliers_need_forces) return times(T(-p.omega * p.omega), g);
  // For infinite omega the multipliers are those of the linear solve.
  const Triple<T> on = n.solved_at_q ? f - times_masses(mass, m.a) : f;
  return times(T(-1.0), zss_bond_solution(b, on, g, mass, p.zss));
}

/// @param centre of mass of the own positions
template <class T, class M>
TARN_HD void inertia_terms(const M& m, const Triple<T>& x, const Vec3<T>& centre,
                           T (&out)[InertiaTerm::kNumbers]) {
  const double all = molecule_mass(m);
  for (int k = 0; k < InertiaTerm::kNumbers; ++k) out[k] = T(0.0);
  const auto add = [&](int first, const T& mass, const Vec3<T>& r) {
    const T r2 = norm2(r);
    out[first] = out[first] + mass * (r2 - r.x * r.x);
    out[first + 1] = out[first + 1] + mass * (r2 - r.y * r.y);
    out[first + 2] = out[first + 2] + mass * (r2 - r.z * r.z);
    out[first + 3] = out[first + 3] - mass * (r.x * r.y);
    out[first + 4] = out[first + 4] - mass * (r.x * r.z);
    out[first + 5] = out[first + 5] - mass * (r.y * r.z);
  };
  add(InertiaTerm::kMolecules, T(all), T(1.0 / all) * mass_moment(x, m) - centre);
  add(InertiaTerm::kAtoms, T(m.o), x.o - centre);
  add(InertiaTerm::kAtoms, T(m.h1()), x.h1 - centre);
  add(InertiaTerm::kAtoms, T(m.h2()), x.h2 - centre);
}

/// Kinetic degrees of freedom of one replica.
struct DegreesOfFreedom {
  double translation, rotation, bonds;
};
/// Trace of all^-1 part: how many of the three rotations of the whole are those of the part.
TARN_HD double rotations_of(const double* part, const double* all) {
  const Vec3<double> x{all[0], all[3], all[4]}, y{all[3], all[1], all[5]},
      z{all[4], all[5], all[2]};
  const Vec3<double> yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  const Vec3<double> px{part[0], part[3], part[4]}, py{part[3], part[1], part[5]},
      pz{part[4], part[5], part[2]};
  return (dot(yz, px) + dot(zx, py) + dot(xy, pz)) / dot(x, yz);
}
/// @param inertia sums of inertia_terms(); only read where the cluster is motionless
TARN_HD DegreesOfFreedom degrees_of_freedom(const MeasureNumbers& n, const double* inertia) {
  const double each = 3.0 * n.molecules, bonds = n.rigid ? 0.0 : each;
  if (!n.motionless) return {each, each, bonds};
  if (n.molecules == 1) return {0.0, 0.0, bonds};
  // The whole cluster rotates by molecules that move and by molecules that rotate.
  const double orbital =
      rotations_of(inertia + InertiaTerm::kMolecules, inertia + InertiaTerm::kAtoms);
  return {each - 3.0 - orbital, each - 3.0 + orbital, bonds};
}

/// Energy of all biases of a replica, and the coordinate of the first one.
struct BiasMeasure {
  double energy = 0.0, coordinate = 0.0;
};
/// @param centres of this replica, at strides of `stride`
/// @param oxygen reported positions, as in bias_forces()
template <class Oxygen>
TARN_HD BiasMeasure measure_biases(const Biases& biases, int molecules, const double* centres,
                                   std::ptrdiff_t stride, const Oxygen& oxygen) {
  BiasMeasure all;
  for (int k = 0; k < biases.count; ++k) {
    const double xi = bias_forces(biases.terms[k], molecules, centres[k * stride], oxygen,
                                  [](int, const Vec3<double>&) {});
    if (k == 0) all.coordinate = xi;
    all.energy += bias_energy(biases.terms[k], xi, centres[k * stride]);
  }
  return all;
}

/// The row of a replica, from the sums over its molecules.
/// @param potential non-bonded energy V0 [kcal/mol]
TARN_HD Energies energies_of(const MeasureNumbers& n, const double (&sum)[EnergyTerm::kNumbers],
                             const DegreesOfFreedom& degrees, double potential,
                             const BiasMeasure& bias) {
  Energies e;
  e.potential_kcal_per_mol = potential;
  e.bond_kcal_per_mol = sum[EnergyTerm::kBondEnergy];
  e.wall_kcal_per_mol = sum[EnergyTerm::kWall];
  e.field_kcal_per_mol = sum[EnergyTerm::kField];
  e.bias_kcal_per_mol = bias.energy;
  e.bias_coordinate = bias.coordinate;
  e.kinetic_kcal_per_mol = sum[EnergyTerm::kKinetic];
  e.physical_kcal_per_mol = e.kinetic_kcal_per_mol + e.potential_kcal_per_mol +
                            e.bond_kcal_per_mol + e.wall_kcal_per_mol + e.field_kcal_per_mol +
                            e.bias_kcal_per_mol;
  const double h = n.step.h;
  e.total_kcal_per_mol = e.physical_kcal_per_mol;
  if (n.beta > 0.0) {
    e.total_kcal_per_mol += 0.5 * (n.beta - 0.25) * h * h * sum[EnergyTerm::kAccelerations];
  }
  // Bonds that are infinitely stiff have all of their energy in the last term.
  if (n.infinitely_stiff) e.physical_kcal_per_mol = e.total_kcal_per_mol;
  const auto temperature_K = [](double kinetic, double number) {
    return number > 0.0 ? 2.0 * kinetic / (number * units::boltzmann_kcal_per_mol_K) : 0.0;
  };
  e.temperature_K = temperature_K(sum[EnergyTerm::kThermal],
                                  degrees.translation + degrees.rotation + degrees.bonds);
  e.temperature_translation_K = temperature_K(sum[EnergyTerm::kTranslation], degrees.translation);
  e.temperature_rotation_K = temperature_K(sum[EnergyTerm::kRotation], degrees.rotation);
  e.temperature_bond_K = temperature_K(sum[EnergyTerm::kBonds], degrees.bonds);
  return e;
}
/// The energy that replica exchange compares, equation (35) [kcal/mol].
TARN_HD double exchange_energy_of(const MeasureNumbers& n, const Energies& e) {
  const double potential = e.all_potential_kcal_per_mol();
  return exchange_energy(potential, e.total_kcal_per_mol - e.kinetic_kcal_per_mol, n.beta, n.baoab);
}

/// A of the heat capacity, equation (53): the energy at the reported positions, with that of
/// flexible bonds but without a penalty [kcal/mol].
TARN_HD double configurational_energy(bool flexible, const Energies& e) {
  const double between =
      e.potential_kcal_per_mol + e.wall_kcal_per_mol + e.field_kcal_per_mol + e.bias_kcal_per_mol;
  return flexible ? between + e.bond_kcal_per_mol : between;
}

/// The kinetic part of the heat capacity, k/2 per degree of freedom [kcal/mol/K].
/// @param by_potential whether a Potential gives the forces, also those of the bonds
inline double kinetic_heat_capacity(const System& system, bool by_potential) {
  const bool has_bonds =
      by_potential ? !is_rigid(system.integrator.scheme) : system.model.is_flexible();
  const double of_molecule = has_bonds ? 4.5 : 3.0;
  return of_molecule * system.molecules * units::boltzmann_kcal_per_mol_K;
}

/// The numbers of a row of energy_moments: the members of Energies, then these.
struct EnergyMoment {
  enum Number {
    kPotential,
    kBondEnergy,
    kWall,
    kField,
    kBias,
    kBiasCoordinate,
    kKinetic,
    kTotal,
    kTemperature,
    kTranslation,
    kRotation,
    kBonds,
    kPhysical,
    kConfigurational,
    kExchange,
    kNumbers
  };
};
static_assert(sizeof(Energies) == EnergyMoment::kConfigurational * sizeof(double));
TARN_HD void energy_moment_row(bool flexible, const Energies& e, double exchange_energy,
                               double* row) {
  const double numbers[EnergyMoment::kNumbers] = {
      e.potential_kcal_per_mol, e.bond_kcal_per_mol,
      e.wall_kcal_per_mol,      e.field_kcal_per_mol,
      e.bias_kcal_per_mol,      e.bias_coordinate,
      e.kinetic_kcal_per_mol,   e.total_kcal_per_mol,
      e.temperature_K,          e.temperature_translation_K,
      e.temperature_rotation_K, e.temperature_bond_K,
      e.physical_kcal_per_mol,  configurational_energy(flexible, e),
      exchange_energy};
  for (int k = 0; k < EnergyMoment::kNumbers; ++k) row[k] = numbers[k];
}

/// The members of a Conservation, in their order.
inline constexpr int kConservationNumbers = 8;
static_assert(sizeof(Conservation) == kConservationNumbers * sizeof(double));
TARN_HD void conservation_of(const double (&sum)[EnergyTerm::kNumbers], double total_energy,
                             double* out) {
  out[0] = total_energy;
  for (int k = 0; k < 6; ++k) out[1 + k] = sum[EnergyTerm::kMomentum + k];
  out[7] = sum[EnergyTerm::kConstraint];
}

}  // namespace TARN_ARCH
}  // namespace tarn
