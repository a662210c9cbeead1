#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The part of a deck that describes a mechanical system. All quantities are dimensionless.

namespace tarn {

enum class MechanicsScheme {
  verlet,
  zs,
  zss,
  zss_stiff,
  pushforward_newmark,
  newmark,
  newmark_one_step,
  variational_euler,
  midpoint,
  midpoint_hamilton,
  shake,
  rattle,
  rk4,
  rk4_projected,
  slow_manifold,
  so3_linearised,
  cayley_variational_euler,
  moser_veselov,
  constrained_euler,
  variational_of_euler,
  variational_of_rk2,
  variational_of_rk4,
};
enum class DnaEnds { periodic, free };
enum class DnaNoise { normal };
enum class PenaltyHessian { full, gauss_newton };
enum class OneStepAcceleration { linearised, force };
enum class Composition { none, yoshida4, suzuki4 };
enum class MagnetQuadrature { first_order, trapezoidal };
enum class MagnetAMass { paper, consistent };
enum class MechanicsTrajectoryFormat { csv };

/// Empty lists have the values of the paper. Numbers in brackets are equations of
/// docs/equations.md.
struct MechanicsSystemSection {
  std::int64_t n = 0;           ///< points or bases; 0: that of the paper
  std::vector<double> masses;   ///< of each point (44)
  std::vector<double> lengths;  ///< of each rod (44)
  double gravity = 1.0;         ///< V = gravity sum m y, or m z in space (44, 51)
  double a = 7.0;               ///< base pair energy U = (exp(-a [1 - cos theta - x0]) - 1)^2 (45)
  double x0 = 0.3;              ///< minimum of U: 1 - cos theta = x0
  double epsilon = 1.0 / 1400.0;  ///< strength of U relative to the springs between bases (45)
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;        ///< seed of xi
  std::vector<double> xi;        ///< per base, theta = 0.8 + 0.1 xi at the start; empty: drawn
  std::vector<double> position;  ///< at the start: x, y (and z) of each point, or angles
  std::vector<double> velocity;  ///< at the start, in the same order
  std::optional<double> omega;   ///< of the double spring, unless given in [integrator]
  double b_mu = 1.0;             ///< field times dipole moment, V = b_mu R33 (46, 47)
  std::vector<double> rotation;  ///< rotation matrix at the start, row by row
  std::vector<double> angular_velocity;  ///< of the magnet in the body frame at the start (47)
  std::vector<double> alpha;             ///< diagonal of J of a free body or top (49, 50)
  std::vector<double> chi;               ///< top: direction from fixed point to centre of mass (50)
  double c = 1.0;                        ///< top: weight times distance, V = c v.chi
  /// Angular momentum in the body frame at the start: antisymmetric matrix, row by row (49, 50).
  std::vector<double> momentum;
  std::vector<double>
      direction;  ///< top: direction v of gravity in the body frame at the start (50)
  bool operator==(const MechanicsSystemSection&) const = default;
};

struct MechanicsIntegratorSection {
  MechanicsScheme scheme = MechanicsScheme::zs;
  double step = 0.0;            ///< time step h
  std::optional<double> omega;  ///< strength of the penalty, omega^2 |g|^2 / 2
  std::optional<double> beta;   ///< scheme parameter of the Newmark family
  PenaltyHessian hessian = PenaltyHessian::full;
  OneStepAcceleration acceleration = OneStepAcceleration::linearised;
  Composition compose = Composition::none;
  MagnetQuadrature quadrature = MagnetQuadrature::trapezoidal;
  MagnetAMass a_mass = MagnetAMass::paper;
  double tolerance = 1e-9;  ///< of g and its rate, for projections (48)
  double bias = 0.0;        ///< of variational methods; 0.5: self-adjoint
  bool operator==(const MechanicsIntegratorSection&) const = default;
};

struct MechanicsRunSection {
  std::int64_t steps = 0;  ///< given, or computed from duration
  /// `duration` as written; runs with other time steps end at this time. Equality of decks ignores
  /// it.
  std::optional<double> duration;
  bool operator==(const MechanicsRunSection& other) const { return steps == other.steps; }
};

struct ObserveMechanicsTrajectory {
  std::int64_t every = 1;
  MechanicsTrajectoryFormat format = MechanicsTrajectoryFormat::csv;
  double window = 0.2;  ///< averaging time of penalty multipliers
  bool operator==(const ObserveMechanicsTrajectory&) const = default;
};
struct ObserveMechanicsEnergies {
  std::int64_t every = 1;
  bool operator==(const ObserveMechanicsEnergies&) const = default;
};
struct ObserveMechanicsConservation {
  std::int64_t every = 1;
  bool operator==(const ObserveMechanicsConservation&) const = default;
};

struct MechanicsDeck {
  MechanicsSystemSection system;
  MechanicsIntegratorSection integrator;
  MechanicsRunSection run;
  std::optional<ObserveMechanicsTrajectory> trajectory;
  std::optional<ObserveMechanicsEnergies> energies;
  std::optional<ObserveMechanicsConservation> conservation;
  bool operator==(const MechanicsDeck&) const = default;
};

/// Largest number of coordinates of a mechanical system.
inline constexpr std::int64_t kMaxMechanicsSize = 100'000;

/// Whether `system.kind` names a mechanical system; false for water and unknown names.
bool is_mechanical(std::string_view kind);

/// Schemes with rigid constraints.
inline bool is_rigid(MechanicsScheme scheme) {
  return scheme == MechanicsScheme::shake || scheme == MechanicsScheme::rattle;
}

/// The name of the scheme in decks.
std::string_view scheme_name(MechanicsScheme scheme);

/// Contents of the columns of trajectory.csv: "q: ...; v: ...".
std::string trajectory_column_text(std::string_view kind, MechanicsScheme scheme);

}  // namespace tarn
