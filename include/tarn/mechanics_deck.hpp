#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The part of a deck that describes a mechanical system. Nothing has a dimension.

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

/// An empty list stands for the paper's; numbers in brackets are equations of docs/equations.md.
struct MechanicsSystemSection {
  std::int64_t n = 0;             ///< points or bases; 0: the paper's
  std::vector<double> masses;     ///< of each point (44)
  std::vector<double> lengths;    ///< of each rod (44)
  double gravity = 1.0;           ///< V = gravity sum m y, or m z in space (44, 51)
  double a = 7.0;                 ///< of a base pair, U = (exp(-a [1 - cos theta - x0]) - 1)^2 (45)
  double x0 = 0.3;                ///< where that well has its bottom: 1 - cos theta = x0
  double epsilon = 1.0 / 1400.0;  ///< strength of U beside the springs from base to base (45)
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;        ///< of xi
  std::vector<double> xi;        ///< of each base, theta = 0.8 + 0.1 xi at the start; empty: drawn
  std::vector<double> position;  ///< at the start: x and y (and z) of each point, or the angles
  std::vector<double> velocity;  ///< at the start, likewise
  std::optional<double> omega;   ///< of the double spring, unless the integrator has it
  double b_mu = 1.0;             ///< field times dipole moment, V = b_mu R33 (46, 47)
  std::vector<double> rotation;  ///< matrix at the start, row by row
  std::vector<double> angular_velocity;  ///< of the magnet in its own frame at the start (47)
  std::vector<double> alpha;             ///< diagonal of J of a free body or a top (49, 50)
  std::vector<double> chi;               ///< of a top: fixed point to centre of mass (50)
  double c = 1.0;                        ///< of a top: weight times distance, V = c v.chi
  /// Angular momentum in the body at the start, an antisymmetric matrix row by row (49, 50).
  std::vector<double> momentum;
  std::vector<double> direction;  ///< v, that of gravity in the body of a top at the start (50)
  bool operator==(const MechanicsSystemSection&) const = default;
};

struct MechanicsIntegratorSection {
  MechanicsScheme scheme = MechanicsScheme::zs;
  double step = 0.0;            ///< time step h
  std::optional<double> omega;  ///< strength of the penalty, omega^2 |g|^2 / 2
  std::optional<double> beta;   ///< scheme parameter of Newmark's family
  PenaltyHessian hessian = PenaltyHessian::full;
  OneStepAcceleration acceleration = OneStepAcceleration::linearised;
  Composition compose = Composition::none;
  MagnetQuadrature quadrature = MagnetQuadrature::trapezoidal;
  MagnetAMass a_mass = MagnetAMass::paper;
  double tolerance = 1e-9;  ///< of g and its rate, at which a projection has settled (48)
  double bias = 0.0;        ///< of methods made variational; 0.5: of those that are self-adjoint
  bool operator==(const MechanicsIntegratorSection&) const = default;
};

struct MechanicsRunSection {
  std::int64_t steps = 0;  ///< from steps or duration
  /// `duration` as it is written, up to which steps of other lengths may go. Decks with the same
  /// steps are the same.
  std::optional<double> duration;
  bool operator==(const MechanicsRunSection& other) const { return steps == other.steps; }
};

struct ObserveMechanicsTrajectory {
  std::int64_t every = 1;
  MechanicsTrajectoryFormat format = MechanicsTrajectoryFormat::csv;
  double window = 0.2;  ///< of the mean of a penalty's multiplier
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

/// Most coordinates of a mechanical system.
inline constexpr std::int64_t kMaxMechanicsSize = 100'000;

/// Whether `system.kind` is that of a mechanical system, and not water or unknown.
bool is_mechanical(std::string_view kind);

/// Schemes with rigid constraints.
inline bool is_rigid(MechanicsScheme scheme) {
  return scheme == MechanicsScheme::shake || scheme == MechanicsScheme::rattle;
}

/// The scheme as decks write it.
std::string_view scheme_name(MechanicsScheme scheme);

/// What the columns of trajectory.csv hold: "q: ...; v: ...".
std::string trajectory_column_text(std::string_view kind, MechanicsScheme scheme);

}  // namespace tarn
