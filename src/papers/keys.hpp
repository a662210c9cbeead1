#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The systems of the papers and their integrators by the keys of decks. All quantities are
/// dimensionless.

namespace tarn::papers {

enum class DnaEnds { periodic, free };
enum class DnaNoise { normal };

/// Empty lists have the values of the paper. Numbers in brackets are equations of
/// docs/equations.md.
struct SystemKeys {
  std::int64_t n = 0;                ///< points or bases; 0: that of the paper
  std::vector<double> masses = {};   ///< of each point (44)
  std::vector<double> lengths = {};  ///< of each rod (44)
  double gravity = 1.0;              ///< V = gravity sum m y, or m z in space (44, 51)
  double a = 7.0;   ///< base pair energy U = (exp(-a [1 - cos theta - x0]) - 1)^2 (45)
  double x0 = 0.3;  ///< minimum of U: 1 - cos theta = x0
  double epsilon = 1.0 / 1400.0;  ///< strength of U relative to the springs between bases (45)
  DnaEnds ends = DnaEnds::periodic;
  DnaNoise noise = DnaNoise::normal;
  std::uint64_t seed = 1;             ///< seed of xi
  std::vector<double> xi = {};        ///< per base, theta = 0.8 + 0.1 xi at the start; empty: drawn
  std::vector<double> position = {};  ///< at the start: x, y (and z) of each point, or angles
  std::vector<double> velocity = {};  ///< at the start, in the same order
  std::optional<double> omega = {};   ///< of the double spring, unless given in [integrator]
  double b_mu = 1.0;                  ///< field times dipole moment, V = b_mu R33 (46, 47)
  std::vector<double> rotation = {};  ///< rotation matrix at the start, row by row
  std::vector<double> angular_velocity = {};  ///< of the magnet in the body frame at the start (47)
  std::vector<double> alpha = {};             ///< diagonal of J of a free body or top (49, 50)
  std::vector<double> chi = {};  ///< top: direction from fixed point to centre of mass (50)
  double c = 1.0;                ///< top: weight times distance, V = c v.chi
  /// Angular momentum in the body frame at the start: antisymmetric matrix, row by row (49, 50).
  std::vector<double> momentum = {};
  std::vector<double> direction =
      {};  ///< top: direction v of gravity in the body frame at the start (50)
};

/// The whole Hessian of V, that of its stiff part, or the latter without second derivatives of
/// constraints, which makes it positive semidefinite. Systems without a stiff part have one
/// Hessian.
enum class Hessian { full, stiff, gauss_newton };
/// The new acceleration in the update of v of the one-step Newmark method: from the Newton step, or
/// from the force at the new position. The latter is unstable for stiff forces.
enum class Acceleration { linearised, force };
/// yoshida4: Yoshida 1990, k = 1. suzuki4: Suzuki 1990, k = 2; no step is longer than h.
enum class Composition { none, yoshida4, suzuki4 };
enum class Quadrature { first_order, trapezoidal };
/// The factor c of a in (c + βh²H) a = -∇V for the magnet: 1 in the paper, ½ where the mass of R
/// is ½.
enum class AMass { paper, consistent };

struct IntegratorKeys {
  std::string scheme = "zs";
  double step = 0.0;                 ///< time step h
  std::optional<double> omega = {};  ///< strength of the penalty, omega^2 |g|^2 / 2
  std::optional<double> beta = {};   ///< scheme parameter of the Newmark family
  Hessian hessian = Hessian::stiff;  ///< of the penalty
  Acceleration acceleration = Acceleration::linearised;
  Composition compose = Composition::none;
  Quadrature quadrature = Quadrature::trapezoidal;
  AMass a_mass = AMass::paper;
  double tolerance = 1e-9;           ///< of g and its rate, for projections (48)
  double relative_tolerance = 1e-6;  ///< of the steps of Dormand & Prince (66)
  std::int64_t projections = 0;      ///< steps of Dormand & Prince that begin with a projection
  double bias = 0.0;                 ///< of variational methods; 0.5: self-adjoint
};

/// Schemes with rigid constraints.
inline bool is_rigid(std::string_view scheme) { return scheme == "shake" || scheme == "rattle"; }

}  // namespace tarn::papers
