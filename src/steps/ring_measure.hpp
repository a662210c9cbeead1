#pragma once

#include "measure.hpp"
#include "physics/ring_polymer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/physics/measured.hpp"
#include "thermostat.hpp"

/// @file
/// Estimators of ring polymers, equation (83), as sums over modes, molecules and beads: what each
/// of them adds, and the rows of a replica that follow from the sums. Engines add the terms in an
/// order that depends on the numbers of molecules and beads only.

namespace tarn {

/// What a molecule of a mode adds. The internal modes alone have a virial and a square.
struct RingTerm {
  enum Number {
    kVirialO,  ///< -q.f of the oxygen
    kVirialH,  ///< of both hydrogens
    kSquareO,  ///< q.q
    kSquareH,
    kSpring,           ///< energy of the springs
    kKinetic,          ///< of the velocities v
    kCentroid,         ///< of the velocities right after the noise: of the centroid,
    kInternal,         ///< and of the internal modes
    kAngularMomentum,  ///< three components
    kNumbers = kAngularMomentum + 3
  };
};
/// What a bead adds: energies between molecules, within molecules, of wall and field.
struct BeadTerm {
  enum Number { kPairs, kBonds, kWall, kField, kNumbers };
};

inline namespace TARN_ARCH {

/// @param spring omega_k^2 of the mode [1/akma^2]
/// @param f forces on the mode
/// @param hot velocities right after the noise
/// @param m Masses or AtomMasses
template <class M>
TARN_HD void ring_terms(const M& m, int mode, double spring, const Triple<double>& q,
                        const Triple<double>& f, const Triple<double>& v, const Triple<double>& hot,
                        double (&out)[RingTerm::kNumbers]) {
  const auto hydrogens = [](const Vec3<double>& a1, const Vec3<double>& b1, const Vec3<double>& a2,
                            const Vec3<double>& b2) { return dot(a1, b1) + dot(a2, b2); };
  const bool internal = mode > 0;
  const double square_o = norm2(q.o), square_h = norm2(q.h1) + norm2(q.h2);
  const double thermal = 0.5 * weighted_norm2(m, hot);
  out[RingTerm::kVirialO] = internal ? -dot(q.o, f.o) : 0.0;
  out[RingTerm::kVirialH] = internal ? -hydrogens(q.h1, f.h1, q.h2, f.h2) : 0.0;
  out[RingTerm::kSquareO] = internal ? square_o : 0.0;
  out[RingTerm::kSquareH] = internal ? square_h : 0.0;
  out[RingTerm::kSpring] =
      0.5 * spring * (m.o * square_o + hydrogen_sum<double>(m, norm2(q.h1), norm2(q.h2)));
  out[RingTerm::kKinetic] = 0.5 * weighted_norm2(m, v);
  out[RingTerm::kCentroid] = internal ? 0.0 : thermal;
  out[RingTerm::kInternal] = internal ? thermal : 0.0;
  const Vec3<double> l =
      m.o * cross(q.o, v.o) + hydrogen_sum<double>(m, cross(q.h1, v.h1), cross(q.h2, v.h2));
  out[RingTerm::kAngularMomentum] = l.x;
  out[RingTerm::kAngularMomentum + 1] = l.y;
  out[RingTerm::kAngularMomentum + 2] = l.z;
}

/// Kinetic energy of an atom, from its virial -q.f summed over the internal modes [kcal/mol].
TARN_HD double ring_atom_kinetic(double kT, double virial, int beads) {
  return 1.5 * kT + 0.5 * virial / beads;
}

/// Mean over the beads of all potential energies [kcal/mol].
/// @param beads sums over beads of BeadTerm
TARN_HD double mean_ring_potential(int number_of_beads, const double (&beads)[BeadTerm::kNumbers]) {
  const double p = number_of_beads;
  return beads[BeadTerm::kPairs] / p + beads[BeadTerm::kBonds] / p + beads[BeadTerm::kWall] / p +
         beads[BeadTerm::kField] / p;
}

/// A ring polymer's estimators, the mean energies of wall and field, and the energy that the steps
/// conserve.
struct RingEstimate {
  RingMeasures rings;
  double wall_kcal_per_mol, field_kcal_per_mol;
  double hamiltonian_kcal_per_mol;
};
/// @param kT of the bath [kcal/mol]
/// @param sum over modes and molecules of RingTerm; @param beads over beads of BeadTerm
TARN_HD RingEstimate ring_estimate(int molecules, int number_of_beads, double kT,
                                   const double (&sum)[RingTerm::kNumbers],
                                   const double (&beads)[BeadTerm::kNumbers]) {
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  const double p = number_of_beads, n = molecules;
  RingEstimate e{};
  RingMeasures& r = e.rings;
  r.potential_kcal_per_mol = beads[BeadTerm::kPairs] / p;
  r.intramolecular_kcal_per_mol = beads[BeadTerm::kBonds] / p;
  e.wall_kcal_per_mol = beads[BeadTerm::kWall] / p;
  e.field_kcal_per_mol = beads[BeadTerm::kField] / p;
  r.kinetic_o_kcal_per_mol = ring_atom_kinetic(kT, sum[RingTerm::kVirialO] / n, number_of_beads);
  r.kinetic_h_kcal_per_mol =
      ring_atom_kinetic(kT, sum[RingTerm::kVirialH] / (2.0 * n), number_of_beads);
  r.gyration2_o_A2 = sum[RingTerm::kSquareO] / (p * n);
  r.gyration2_h_A2 = sum[RingTerm::kSquareH] / (2.0 * p * n);
  r.spring_kcal_per_mol = sum[RingTerm::kSpring];
  const double potential = mean_ring_potential(number_of_beads, beads);
  r.virial_kcal_per_mol =
      potential + n * (r.kinetic_o_kcal_per_mol + 2.0 * r.kinetic_h_kcal_per_mol);
  r.primitive_kcal_per_mol = potential + 4.5 * n * p * kT - r.spring_kcal_per_mol / p;
  r.centroid_K = sum[RingTerm::kCentroid] / (4.5 * n * k * p);
  r.internal_K = sum[RingTerm::kInternal] / (4.5 * n * k * p * (p - 1.0));
  e.hamiltonian_kcal_per_mol = sum[RingTerm::kKinetic] + r.spring_kcal_per_mol + p * potential;
  return e;
}

/// The energy that an exchange compares.
TARN_HD double potential_of(const RingEstimate& e) {
  return e.rings.potential_kcal_per_mol + e.rings.intramolecular_kcal_per_mol +
         e.wall_kcal_per_mol + e.field_kcal_per_mol;
}
/// Replaces the energies of the centroids, except that of biases, which are theirs.
TARN_HD void put_ring_energies(const RingEstimate& e, int molecules, int beads,
                               Energies& energies) {
  energies.potential_kcal_per_mol = e.rings.potential_kcal_per_mol;
  energies.bond_kcal_per_mol = e.rings.intramolecular_kcal_per_mol;
  energies.wall_kcal_per_mol = e.wall_kcal_per_mol;
  energies.field_kcal_per_mol = e.field_kcal_per_mol;
  energies.kinetic_kcal_per_mol =
      molecules * (e.rings.kinetic_o_kcal_per_mol + 2.0 * e.rings.kinetic_h_kcal_per_mol);
  energies.total_kcal_per_mol = e.rings.virial_kcal_per_mol + energies.bias_kcal_per_mol;
  energies.physical_kcal_per_mol = e.hamiltonian_kcal_per_mol + beads * energies.bias_kcal_per_mol;
}

}  // namespace TARN_ARCH
}  // namespace tarn

namespace tarn::inline TARN_ARCH {

/// Constants of a mode; see RingMode.
template <class T, class Ou = OuParameters<T>>
struct ModeNumbers {
  T cosine, sine_over_omega, omega_sine;
  Ou ou;
};

/// O of a mode.
/// @param tally see thermostat_penalised
template <class T, class Ou, class Tally = NoTally>
TARN_HD void ring_noise(const ModeNumbers<T, Ou>& c, const Triple<T>& xi, MoleculeState<T>& s,
                        const Tally& tally = {}) {
  const Triple<T> before = s.v;
  s.v = ou_step(before, xi, c.ou);
  tally(before, s.v);
}

/// The part of a step before the forces: kick, C, the middle, C.
/// @param middle called with the state: O of BAOAB, or nothing
template <class T, class Ou, class Middle>
TARN_HD void begin_ring(const ModeNumbers<T, Ou>& c, const T& h, MoleculeState<T>& s,
                        const Middle& middle) {
  kick(s, h);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
  middle(s);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
}

}  // namespace tarn::inline TARN_ARCH
