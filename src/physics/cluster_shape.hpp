#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tarn/core/units.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Shape, hydrogen bonds and dipole moments of a cluster as sums over its molecules: equations
/// (28), (29) and (39).

namespace tarn::inline TARN_ARCH {

/// Luzar & Chandler 1996, equation (39): O-O below 3.5 A, and the angle H-O...O below 30 degrees.
inline constexpr double kHydrogenBond_A = 3.5, kHydrogenBondCosine = 0.86602540378443864676;

/// Whether a hydrogen of a donor bonds it to an acceptor, equation (39).
/// @param oo from the donor's oxygen to the acceptor's [A]; @param oo2 its square
/// @param oh from the donor's oxygen to the hydrogen [A]
template <class T>
TARN_HD mask_t<T> is_hydrogen_bond(const Vec3<T>& oo, const T& oo2, const Vec3<T>& oh) {
  const T r2(kHydrogenBond_A * kHydrogenBond_A), cosine(kHydrogenBondCosine);
  return (oo2 < r2) & (cosine * sqrt(oo2 * norm2(oh)) < dot(oo, oh));
}

/// Hydrogen bonds of a donor to one acceptor: 0, 1 or 2.
template <class T>
TARN_HD T hydrogen_bonds_to(const Triple<T>& donor, const Vec3<T>& oo, const T& oo2) {
  const T one(1.0), none(0.0);
  return select(is_hydrogen_bond(oo, oo2, donor.h1 - donor.o), one, none) +
         select(is_hydrogen_bond(oo, oo2, donor.h2 - donor.o), one, none);
}

/// Dipole moment of a neutral molecule [e A], equation (28).
/// @param charge_e WaterModel::dipole_charge_e()
template <class T>
TARN_HD Vec3<T> dipole_moment(const Triple<T>& q, double charge_e) {
  return T(charge_e) * ((q.h1 - q.o) + (q.h2 - q.o));
}

/// What a molecule adds to the numbers of its cluster: kSums sums, then maxima.
struct ShapeTerm {
  enum Number {
    kSquare,
    kBonds,
    kDipoleX,
    kDipoleY,
    kDipoleZ,
    kDipole,
    kSums,
    kNearest2 = kSums,
    kRadius2,
    kNumbers
  };
};

/// @param i the molecule; @param partner partner(j) is molecule j at the reported positions
/// @param oxygens mean position of the oxygens [A]; @param mass centre of mass [A]
template <class T, class Partner>
TARN_HD void shape_terms(int i, int molecules, const Partner& partner, const Vec3<T>& oxygens,
                         const Vec3<T>& mass, double dipole_charge_e,
                         T (&out)[ShapeTerm::kNumbers]) {
  const Triple<T> q = partner(i);
  T bonds(0.0), nearest2(molecules > 1 ? 1e300 : 0.0);
  for (int j = 0; j < molecules; ++j) {
    if (j == i) continue;
    const Vec3<T> oo = partner(j).o - q.o;
    const T oo2 = norm2(oo);
    nearest2 = min(nearest2, oo2);
    bonds = bonds + hydrogen_bonds_to(q, oo, oo2);
  }
  const Vec3<T> moment = dipole_moment(q, dipole_charge_e);
  out[ShapeTerm::kSquare] = norm2(q.o - oxygens);
  out[ShapeTerm::kBonds] = bonds;
  out[ShapeTerm::kDipoleX] = moment.x;
  out[ShapeTerm::kDipoleY] = moment.y;
  out[ShapeTerm::kDipoleZ] = moment.z;
  out[ShapeTerm::kDipole] = sqrt(norm2(moment));
  out[ShapeTerm::kNearest2] = nearest2;
  out[ShapeTerm::kRadius2] = norm2(q.o - mass);
}

/// Adds the terms of another molecule.
template <class T>
TARN_HD void add_shape(const T (&terms)[ShapeTerm::kNumbers], T (&all)[ShapeTerm::kNumbers]) {
  for (int k = 0; k < ShapeTerm::kSums; ++k) all[k] = all[k] + terms[k];
  for (int k = ShapeTerm::kSums; k < ShapeTerm::kNumbers; ++k) all[k] = max(all[k], terms[k]);
}

/// @param moment dipole moment of the cluster [e A]
TARN_HD void put_dipole(const Vec3<double>& moment, ClusterMeasures& m) {
  m.dipole_D = sqrt(norm2(moment)) * units::debye_per_e_A;
  m.dipole_x_D = moment.x * units::debye_per_e_A;
  m.dipole_y_D = moment.y * units::debye_per_e_A;
  m.dipole_z_D = moment.z * units::debye_per_e_A;
}
/// From the sums and maxima over the molecules to the row of a replica.
TARN_HD ClusterMeasures cluster_measures(const double (&sum)[ShapeTerm::kNumbers], int molecules) {
  const double n = molecules;
  const Vec3<double> moment{sum[ShapeTerm::kDipoleX], sum[ShapeTerm::kDipoleY],
                            sum[ShapeTerm::kDipoleZ]};
  ClusterMeasures m;
  m.radius_of_gyration_A = sqrt(sum[ShapeTerm::kSquare] / n);
  m.hydrogen_bonds = sum[ShapeTerm::kBonds];
  m.farthest_neighbour_A = sqrt(sum[ShapeTerm::kNearest2]);
  put_dipole(moment, m);
  m.molecule_dipole_D = sum[ShapeTerm::kDipole] / n * units::debye_per_e_A;
  m.farthest_oxygen_A = sqrt(sum[ShapeTerm::kRadius2]);
  return m;
}

// --- Lindemann index -----------------------------------------------------------------------------

/// Pairs of molecules; by number they are (1,0), (2,0), (2,1), (3,0) ...
TARN_HD constexpr std::int64_t molecule_pairs(int molecules) {
  return static_cast<std::int64_t>(molecules) * (molecules - 1) / 2;
}

/// One more distance of a pair in its running mean and its sum of squares about it (Welford): no
/// difference of large sums.
/// @param samples with this one
template <class T>
TARN_HD void add_distance(const T& r, double samples, T& mean, T& squares) {
  const T off = r - mean;
  mean = mean + off / T(samples);
  squares = squares + off * (r - mean);
}
/// What a pair adds to the sum of equation (29).
template <class T>
TARN_HD T lindemann_term(const T& mean, const T& squares, double samples) {
  return sqrt(squares / T(samples)) / mean;
}

}  // namespace tarn::inline TARN_ARCH

namespace tarn {

/// @param positions_A [molecule][9]
Vec3<double> centre_of_mass(std::span<const double> positions_A, const ClusterMasses& masses);

/// The molecules outside the largest part of a cluster: oxygens nearer than `link_A` to one
/// another, directly or through others, form one part. Of parts of equal size the one with the
/// first molecule counts as the largest.
/// @param positions_A [molecule][9]
/// @return their numbers from 0, in rising order; none when the cluster is whole
std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A);

/// The row of a replica: evaporated_molecules() and the kinetic energy of their motion.
/// @param velocities_A_per_akma [molecule][9]
ClusterParts cluster_parts(std::span<const double> positions_A,
                           std::span<const double> velocities_A_per_akma,
                           const ClusterMasses& masses, double link_A);

}  // namespace tarn
