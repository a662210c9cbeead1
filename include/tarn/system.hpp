#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tarn/core/replica_map.hpp"
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
/// The Hessian of the linear solve. Penalty only: J^T J (gauss_newton) or the full Hessian (full).
/// Penalty and non-bonded energy: the diagonal blocks of the molecules (molecule), or all (total).
enum class Hessian { gauss_newton, full, molecule, total };
enum class Solver { structured, dense };
/// SHAKE iteration: Newton on the three bonds of a molecule, or bond by bond.
enum class ShakeIteration { newton, sweeps };
enum class Thermostat { none, gla, baoab };
enum class Precision { double_, mixed, single };

/// True for schemes with rigid bonds (constraints instead of a penalty).
constexpr bool is_rigid(Scheme scheme) {
  return scheme == Scheme::shake || scheme == Scheme::rattle || scheme == Scheme::settle;
}

/// True for schemes of the Newmark family, which have the scheme parameter b.
constexpr bool has_beta(Scheme scheme) {
  return scheme == Scheme::zss_stiff || scheme == Scheme::pushforward_newmark ||
         scheme == Scheme::newmark_one_step;
}
/// True for schemes with internal positions x that report the pushed-forward q = x + b h^2 a.
constexpr bool uses_pushforward(Scheme scheme) {
  return scheme == Scheme::zss_stiff || scheme == Scheme::pushforward_newmark;
}

/// Largest number of molecules with Hessian::total, which is factorised every step.
inline constexpr int kMaxTotalHessianMolecules = 128;

/// The deterministic step. Members that the scheme does not use are ignored (decks reject them).
struct IntegratorSpec {
  Scheme scheme = Scheme::zss_stiff;
  double timestep_akma = 0.0;
  /// Scheme parameter b of the Newmark family (TO 2.1 to 2.6).
  double beta = 0.42;
  /// Penalty strength [sqrt(kcal/mol)/A^2]. Infinity is allowed for Gauss-Newton and push-forward
  /// Newmark, which need only J^T J.
  double omega = 100.0;
  Hessian hessian = Hessian::gauss_newton;
  Solver solver = Solver::structured;
  /// SHAKE: the iteration stops at this relative position change; at least kLeastSingleTolerance in
  /// single precision.
  double tolerance = 1e-8;
  ShakeIteration iteration = ShakeIteration::newton;
};

/// True if the matrices of the linear solves are assembled and factorised.
constexpr bool uses_dense_solver(const IntegratorSpec& i) {
  return i.scheme == Scheme::zss_stiff &&
         (i.solver == Solver::dense || i.hessian == Hessian::molecule ||
          i.hessian == Hessian::total);
}

/// True for schemes with a single-precision step (steps/single.hpp).
constexpr bool supports_single_precision(const IntegratorSpec& i) {
  return is_rigid(i.scheme) || i.scheme == Scheme::verlet ||
         (i.scheme == Scheme::zss_stiff && !uses_dense_solver(i));
}

/// The Ornstein-Uhlenbeck step. The rates differ if the friction is given per mass.
struct ThermostatSpec {
  Thermostat kind = Thermostat::none;
  double temperature_K = 0.0;
  /// If not empty, replaces temperature_K: element r modulo the length for replica id r.
  std::vector<double> temperatures_K;
  double friction_oxygen_per_akma = 0.0;
  double friction_hydrogen_per_akma = 0.0;
};

/// A flat-bottom wall around the centre of mass that acts on oxygens; off if the stiffness is 0.
struct ConfinementSpec {
  double radius_A = 0.0;
  double stiffness_kcal_per_mol_A2 = 0.0;
};

/// A function xi of the positions of the oxygens, of the centroids of ring polymers: the distance
/// of two [A]; the separation of one from the mean of the others [A]; a smooth maximum of all
/// separations [A]; the sum of 1/(1 + (r/r0)^6) over pairs; the radius of gyration [A].
enum class BiasCoordinate {
  distance,
  separation,
  largest_separation,
  contacts,
  radius_of_gyration
};
/// K/2 (xi - centre)^2, everywhere or on one side of the centre.
enum class BiasKind { harmonic, upper_wall, lower_wall };
/// An energy of a coordinate, equation (97). With several centres, replica r has element r modulo
/// their number.
struct BiasSpec {
  BiasCoordinate coordinate = BiasCoordinate::distance;
  BiasKind kind = BiasKind::harmonic;
  std::array<int, 2> molecules{0, 1};  ///< of a distance; the first one of a separation
  double r0_A = 3.5;                   ///< of contacts
  double stiffness = 0.0;              ///< K [kcal/mol] over the square of the unit of xi
  std::vector<double> centres;

  bool has_windows() const { return centres.size() > 1; }
  double centre(std::int64_t replica_id) const {
    return centres[ReplicaMap(centres.size()).place(replica_id)];
  }
};
inline constexpr int kMostBiases = 4;

/// Sampling (pimd), constant energy (rpmd), or a thermostat on the internal modes only (trpmd).
enum class RingMethod { pimd, rpmd, trpmd };
/// The flow of the free ring polymer: the Cayley map, or exact.
enum class FreeRing { cayley, exact };
/// Frequencies of the internal modes: exact for harmonic vibrations up to a highest wavenumber,
/// equation (86), or those of springs between neighbouring beads, equation (80).
enum class RingFrequencies { economised, trotter };

/// Ring polymers of path-integral dynamics.
struct PathIntegralSpec {
  int beads = 1;  ///< 1: classical nuclei
  RingMethod method = RingMethod::pimd;
  FreeRing free_ring = FreeRing::cayley;
  double temperature_K = 0.0;  ///< of the rings, without a thermostat
  /// Friction of the internal modes over 2 omega_k.
  double internal_friction = 1.0;
  RingFrequencies frequencies = RingFrequencies::trotter;
  /// Of the vibrations for which economised frequencies are fitted.
  double highest_wavenumber_per_cm = 0.0;
};
inline constexpr int kMaxBeads = 1024;

/// The parameters of an engine, in internal units. The State is separate.
struct System {
  WaterModel model;
  int molecules = 0;
  IntegratorSpec integrator;
  ThermostatSpec thermostat;
  ConfinementSpec confinement;
  std::vector<BiasSpec> biases;  ///< at most kMostBiases
  PathIntegralSpec path_integral;
  /// The linear and angular momentum are zero at the start, and there is no noise that would change
  /// them. Temperatures leave out these six degrees of freedom.
  bool zero_momentum = false;
  std::uint64_t seed = 1;
  Precision precision = Precision::double_;
  /// Isotopes: masses of O, H1 and H2 of each molecule; empty: those of the model.
  std::vector<std::array<double, 3>> atom_masses_Da{};

  bool has_isotopes() const { return !atom_masses_Da.empty(); }
};

/// The bias that differs between replicas; null if none does.
inline const BiasSpec* windows_of(const System& s) {
  for (const BiasSpec& b : s.biases) {
    if (b.has_windows()) return &b;
  }
  return nullptr;
}

/// Temperature of the bath of a replica or, without a thermostat, of its ring polymer [K].
inline double replica_temperature_K(const System& s, std::int64_t replica_id) {
  const ThermostatSpec& t = s.thermostat;
  if (t.kind == Thermostat::none) return s.path_integral.temperature_K;
  if (t.temperatures_K.empty()) return t.temperature_K;
  return t.temperatures_K[ReplicaMap(t.temperatures_K.size()).place(replica_id)];
}

/// Precision of the pair forces. Push-forward Newmark, which is solved to round-off, would not
/// converge with floats.
inline Precision pair_force_precision(const System& s) {
  return s.integrator.scheme == Scheme::pushforward_newmark ? Precision::double_ : s.precision;
}

}  // namespace tarn
