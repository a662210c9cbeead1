#pragma once

#include <functional>

#include <Eigen/Core>

/// @file
/// Slow points of stiff systems by averaging over the fast motion: the iterative projection
/// algorithm IPA of Ariel, Sanz-Serna & Tsai 2012 (AST), equation (48), for whoever has an
/// acceleration and constraints.

namespace tarn {

/// Over which time the motion is averaged, and in which steps.
struct SlowWindow {
  double step = 0.0;
  int steps = 0;  ///< to each side
};

/// AST 5.2: 6π/slowest to each side, in steps of a sixth of the fastest period or a little less.
/// @param slowest,fastest frequencies of the stiff motion, AST's omega for both
SlowWindow slow_window(double slowest, double fastest);

/// What the average leaves of an oscillation about the slow motion, as a factor of its value in the
/// middle, for velocity Verlet in the steps of the window.
double filter_response(const SlowWindow& window, double frequency);

/// What a projection needs to know of a system.
struct SlowProjection {
  using Vector = Eigen::VectorXd;
  std::function<Vector(const Vector& x)> acceleration;
  /// Constraints and their rates; small, and settled when they change by less than `tolerance`.
  std::function<Vector(const Vector& x, const Vector& v)> constraints;
  /// What is averaged: x and v themselves in AST.
  std::function<Vector(const Vector& x, const Vector& v)> averaged;
  /// Moves (x, v) to where the mean says.
  std::function<void(const Vector& mean, Vector& x, Vector& v)> move;
  SlowWindow window;
  double tolerance = 0.0;
};

/// Moves (x, v) to a slow point, AST 3.2: integrates to both sides by velocity Verlet, averages
/// with the cubic kernel of AST 5.2, moves, and so on until the constraints have settled.
/// @param on_iterate called with each new (x, v); may be empty
/// @return number of iterations
/// @throws NumericalError when they do not settle
int move_to_slow_point(
    const SlowProjection& projection, Eigen::VectorXd& x, Eigen::VectorXd& v,
    const std::function<void(const Eigen::VectorXd&, const Eigen::VectorXd&)>& on_iterate = {});

}  // namespace tarn
