#include "slow_point.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "tarn/core/error.hpp"

namespace tarn {
namespace {

using Vector = SlowProjection::Vector;

constexpr int kMostIterations = 100;

/// The piecewise cubic filter of AST 5.2, with three vanishing moments and mass one on [-1, 1].
double kernel(double t) {
  const double a = std::abs(t);
  if (a <= 0.5) return 2.0 - 2.0 * a - 8.0 * a * a + 8.0 * a * a * a;
  return 2.0 - 22.0 / 3.0 * a + 8.0 * a * a - 8.0 / 3.0 * a * a * a;
}

/// The filtered mean over the window about (x, v).
Vector mean_about(const SlowProjection& p, const Vector& x, const Vector& v) {
  // The kernel vanishes at the ends of the window, so all trapezoidal weights are equal.
  const int n = p.window.steps;
  Vector mean = kernel(0.0) / n * p.averaged(x, v);
  const Vector a0 = p.acceleration(x);
  for (const double h : {p.window.step, -p.window.step}) {
    Vector y = x, w = v, a = a0;
    for (int j = 1; j < n; ++j) {
      w += 0.5 * h * a;
      y += h * w;
      a = p.acceleration(y);
      w += 0.5 * h * a;
      mean += kernel(static_cast<double>(j) / n) / n * p.averaged(y, w);
    }
  }
  return mean;
}

[[noreturn]] void throw_unsettled(int iterations, double change) {
  if (!std::isfinite(change)) {
    throw NumericalError(
        "the projection onto the slow manifold blew up in iteration " + std::to_string(iterations) +
        ". A start nearer to the constraints, a larger omega or a larger tolerance may help");
  }
  throw NumericalError(
      "the projection onto the slow manifold did not settle in " + std::to_string(iterations) +
      " iterations; the last change is " + three_digits(change) +
      ". A start nearer to the constraints, a larger omega or a larger tolerance may help");
}

}  // namespace

SlowWindow slow_window(double slowest, double fastest) {
  // For a single frequency 18 steps of a sixth of a period, AST 5.2. With an even number the kinks
  // of the kernel are on steps, and the weights sum to one. The factor prevents a rounding step.
  const int steps = 2 * static_cast<int>(std::ceil(9.0 * fastest / slowest * (1.0 - 1e-12)));
  return {6.0 * std::numbers::pi / slowest / steps, steps};
}

double filter_response(const SlowWindow& window, double frequency) {
  // Phase per step of Verlet.
  const double angle = 2.0 * std::asin(0.5 * frequency * window.step);
  double sum = kernel(0.0);
  for (int j = 1; j < window.steps; ++j) {
    sum += 2.0 * kernel(static_cast<double>(j) / window.steps) * std::cos(j * angle);
  }
  return sum / window.steps;
}

int move_to_slow_point(const SlowProjection& p, Vector& x, Vector& v,
                       const std::function<void(const Vector&, const Vector&)>& on_iterate) {
  Vector last = p.constraints(x, v);
  for (int iteration = 1;; ++iteration) {
    p.move(mean_about(p, x, v), x, v);
    const Vector now = p.constraints(x, v);
    const double change = (now - last).lpNorm<Eigen::Infinity>();
    if (on_iterate) on_iterate(x, v);
    if (change < p.tolerance) return iteration;
    if (!std::isfinite(change) || iteration == kMostIterations) throw_unsettled(iteration, change);
    last = now;
  }
}

}  // namespace tarn
