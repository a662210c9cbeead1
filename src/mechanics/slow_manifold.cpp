#include "tarn/mechanics/slow_manifold.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tarn/core/error.hpp"

namespace tarn::mechanics {
namespace {

constexpr int kSteps = 18;  // to each side: a window of 6π/omega with steps of (2π/omega)/6
constexpr int kMostIterates = 100;

/// The piecewise cubic filter of AST 5.2, with three vanishing moments and mass one on [-1, 1].
double kernel(double t) {
  const double a = std::abs(t);
  if (a <= 0.5) return 2.0 - 2.0 * a - 8.0 * a * a + 8.0 * a * a * a;
  return 2.0 - 22.0 / 3.0 * a + 8.0 * a * a - 8.0 / 3.0 * a * a * a;
}

}  // namespace

std::vector<SlowIterate> project_onto_slow_manifold(const MechanicalSystem& system,
                                                    const Constraint& constraint, double omega,
                                                    const Vector& x, const Vector& v,
                                                    double tolerance) {
  const double h = 2.0 * std::numbers::pi / omega / 6.0;
  Verlet forward(system, h), backward(system, -h);
  std::vector<SlowIterate> iterates{{x, v, constraint.values(x), constraint.rates(x, v)}};
  while (true) {
    const SlowIterate& last = iterates.back();
    // The kernel vanishes at the ends of the window, so that trapezoidal weights are plain ones.
    Vector mean_x = kernel(0.0) / kSteps * last.x, mean_v = kernel(0.0) / kSteps * last.v;
    for (Method* method : {static_cast<Method*>(&forward), static_cast<Method*>(&backward)}) {
      State s{last.x, last.v, {}, {}};
      method->begin(s);
      for (int j = 1; j <= kSteps; ++j) {
        method->step(s);
        const double weight = kernel(static_cast<double>(j) / kSteps) / kSteps;
        mean_x += weight * s.x;
        mean_v += weight * s.v;
      }
    }
    SlowIterate next{mean_x, mean_v, constraint.values(mean_x), constraint.rates(mean_x, mean_v)};
    const double change = std::max((next.g - last.g).lpNorm<Eigen::Infinity>(),
                                   (next.g_rate - last.g_rate).lpNorm<Eigen::Infinity>());
    iterates.push_back(std::move(next));
    if (change < tolerance) return iterates;
    if (!std::isfinite(change) || iterates.size() > kMostIterates) {
      throw NumericalError("the projection onto the slow manifold did not settle in " +
                           std::to_string(iterates.size() - 1) +
                           " iterations; the last change is " + std::to_string(change) +
                           ". A start nearer to the constraints or a larger omega may help");
    }
  }
}

void Rk4::step(State& s) {
  project(s.x, s.v);
  // (v, a) is the rate at each stage; the first stage is (x, v) itself.
  const auto stage = [&](double length, const Vector& dx, const Vector& dv) {
    State z{s.x + length * dx, s.v + length * dv, {}, {}};
    project(z.x, z.v);
    z.f = system_.acceleration(z.x);
    return z;
  };
  const Vector a1 = system_.acceleration(s.x);
  const State z2 = stage(0.5 * h_, s.v, a1);
  const State z3 = stage(0.5 * h_, z2.v, z2.f);
  const State z4 = stage(h_, z3.v, z3.f);
  s.x += h_ / 6.0 * (s.v + 2.0 * z2.v + 2.0 * z3.v + z4.v);
  s.v += h_ / 6.0 * (a1 + 2.0 * z2.f + 2.0 * z3.f + z4.f);
  ++costs_.steps;
}

void ProjectedRk4::project(Vector& x, Vector& v) {
  const std::vector<SlowIterate> iterates =
      project_onto_slow_manifold(system_, constraint_, omega_, x, v, tolerance_);
  costs_.iterations += static_cast<std::int64_t>(iterates.size()) - 1;
  x = iterates.back().x;
  v = iterates.back().v;
}

}  // namespace tarn::mechanics
