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
enum class OneStepAcceleration { linearised, force };
enum class Composition { none, yoshida4 };
enum class MagnetQuadrature { first_order, trapezoidal };
enum class MagnetAMass { paper, consistent };
enum class MechanicsTrajectoryFormat { csv };

struct MechanicsSystemSection {
  std::int64_t n = 0;  ///< 0: the paper's
  std::vector<double> masses;
  std::vector<double> lengths;
  double gravity = 1.0;
  double a = 7.0;
  double x0 = 0.3;
  double epsilon = 1.0 / 1400.0;
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;
  std::vector<double> xi;
  std::vector<double> position;
  std::vector<double> velocity;
  std::optional<double> omega;  ///< of the double spring, unless the integrator has it
  double b_mu = 1.0;
  std::vector<double> rotation;
  std::vector<double> angular_velocity;
  std::vector<double> alpha;
  std::vector<double> chi;
  double c = 1.0;
  std::vector<double> momentum;
  std::vector<double> direction;
  bool operator==(const MechanicsSystemSection&) const = default;
};

struct MechanicsIntegratorSection {
  MechanicsScheme scheme = MechanicsScheme::zs;
  double step = 0.0;
  std::optional<double> omega;
  std::optional<double> beta;
  OneStepAcceleration acceleration = OneStepAcceleration::linearised;
  Composition compose = Composition::none;
  MagnetQuadrature quadrature = MagnetQuadrature::trapezoidal;
  MagnetAMass a_mass = MagnetAMass::paper;
  double tolerance = 1e-9;
  double bias = 0.0;
  bool operator==(const MechanicsIntegratorSection&) const = default;
};

struct MechanicsRunSection {
  std::int64_t steps = 0;  ///< from steps or duration
  bool operator==(const MechanicsRunSection&) const = default;
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
std::string trajectory_contents(std::string_view kind, MechanicsScheme scheme);

}  // namespace tarn
