#pragma once

#include <functional>

#include <Eigen/Core>

/// @file
/// Slow points of stiff systems by averaging over the fast motion: the iterative projection
/// algorithm IPA of Ariel, Sanz-Serna & Tsai 2012 (AST), equation (48).

namespace tarn {

/// The time over which the motion is averaged, and its steps.
struct SlowWindow {
  double step = 0.0;
  int steps = 0;  ///< on each side
};

/// The window of AST 5.2: 6π/slowest on each side, in steps of at most a sixth of the fastest
/// period.
/// @param slowest,fastest angular frequencies of the stiff motion; in AST both are omega
SlowWindow slow_window(double slowest, double fastest);

/// Response of the average to an oscillation about the slow motion, relative to its value at the
/// centre of the window, for velocity Verlet with the steps of the window.
double filter_response(const SlowWindow& window, double frequency);

/// The functions of a system that a projection requires.
struct SlowProjection {
  using Vector = Eigen::VectorXd;
  std::function<Vector(const Vector& x)> acceleration;
  /// Constraints and their rates. The iteration ends when they change by less than `tolerance`.
  std::function<Vector(const Vector& x, const Vector& v)> constraints;
  /// The averaged quantities; in AST x and v.
  std::function<Vector(const Vector& x, const Vector& v)> averaged;
  /// Moves (x, v) to the mean.
  std::function<void(const Vector& mean, Vector& x, Vector& v)> move;
  SlowWindow window;
  double tolerance = 0.0;
};

/// Moves (x, v) to a slow point, AST 3.2. Each iteration integrates to both sides by velocity
/// Verlet, averages with the cubic kernel of AST 5.2 and moves to the mean, until the constraints
/// settle.
/// @param on_iterate called with each new (x, v); may be empty
/// @return number of iterations
/// @throws NumericalError if they do not settle
int move_to_slow_point(
    const SlowProjection& projection, Eigen::VectorXd& x, Eigen::VectorXd& v,
    const std::function<void(const Eigen::VectorXd&, const Eigen::VectorXd&)>& on_iterate = {});

}  // namespace tarn
