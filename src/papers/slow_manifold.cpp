#include "slow_manifold.hpp"

#include "tarn/core/slow_point.hpp"

namespace tarn::papers {

std::vector<SlowIterate> project_onto_slow_manifold(const MechanicalSystem& system,
                                                    const Constraint& constraint, double omega,
                                                    const Vector& x, const Vector& v,
                                                    double tolerance) {
  const auto both = [](const Vector& a, const Vector& b) {
    Vector joined(a.size() + b.size());
    joined << a, b;
    return joined;
  };
  SlowProjection projection;
  projection.acceleration = [&](const Vector& y) { return system.acceleration(y); };
  projection.constraints = [&](const Vector& y, const Vector& w) {
    return both(constraint.values(y), constraint.rates(y, w));
  };
  projection.averaged = both;
  projection.move = [](const Vector& mean, Vector& y, Vector& w) {
    y = mean.head(y.size());
    w = mean.tail(w.size());
  };
  projection.window = slow_window(omega, omega);
  projection.tolerance = tolerance;

  std::vector<SlowIterate> iterates;
  const auto add = [&](const Vector& y, const Vector& w) {
    iterates.push_back({y, w, constraint.values(y), constraint.rates(y, w)});
  };
  add(x, v);
  Vector slow_x = x, slow_v = v;
  move_to_slow_point(projection, slow_x, slow_v, add);
  return iterates;
}

void ProjectedRk4::project(Vector& x, Vector& v) {
  const std::vector<SlowIterate> iterates =
      project_onto_slow_manifold(system_, constraint_, omega_, x, v, tolerance_);
  costs_.iterations += static_cast<std::int64_t>(iterates.size()) - 1;
  x = iterates.back().x;
  v = iterates.back().v;
}

}  // namespace tarn::papers
