#include "slow_manifold.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/slow_point.hpp"
#include "tarn/core/error.hpp"

namespace tarn::papers {
namespace {

constexpr int kStages = 7;  // the last stage of a step is the first of the next
constexpr std::array<std::array<double, kStages - 1>, kStages> kA{
    {{},
     {1.0 / 5},
     {3.0 / 40, 9.0 / 40},
     {44.0 / 45, -56.0 / 15, 32.0 / 9},
     {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
     {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
     {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}}};
/// Weights of order 5 (the last row of kA) minus those of order 4.
constexpr std::array<double, kStages> kError{
    71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

}  // namespace

std::vector<SlowIterate> project_onto(const SlowManifold& manifold, const MechanicalSystem& system,
                                      const Vector& x, const Vector& v) {
  const Constraint& constraint = manifold.constraint;
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
  projection.window = slow_window(manifold.omega, manifold.omega);
  projection.tolerance = manifold.tolerance;

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
  const std::vector<SlowIterate> iterates = project_onto(manifold_, system_, x, v);
  costs_.iterations += static_cast<std::int64_t>(iterates.size()) - 1;
  x = iterates.back().x;
  v = iterates.back().v;
}

void DormandPrince::advance(State& s) {
  const Index n = s.x.size();
  std::array<Vector, kStages> k;  // (x', v') of each stage
  Vector y(2 * n), next(2 * n);
  const auto rates = [&](const Vector& z) {
    Vector r(2 * n);
    r << z.tail(n), system_.acceleration(z.head(n));
    return r;
  };
  y << s.x, s.v;
  k[0] = rates(y);
  if (step_ == 0.0) step_ = h_ * std::min(1.0, relative_);
  for (double left = h_; left > 0.0;) {
    const bool last = step_ >= left;
    const double h = last ? left : step_;
    for (std::size_t i = 1; i < kStages; ++i) {
      next = y;
      for (std::size_t j = 0; j < i; ++j) {
        if (kA[i][j] != 0.0) next += h * kA[i][j] * k[j];
      }
      k[i] = rates(next);
    }
    Vector estimate = Vector::Zero(2 * n);
    for (std::size_t i = 0; i < kStages; ++i) estimate += h * kError[i] * k[i];
    double error = 0.0;  // relative to the tolerance
    for (Index i = 0; i < 2 * n; ++i) {
      const double size = std::max(std::abs(y[i]), std::abs(next[i]));
      error = std::max(error, std::abs(estimate[i]) / std::max(relative_ * size, absolute_));
    }
    if (!next.allFinite() || !estimate.allFinite() || error > 1e30) error = 1e30;
    const double factor = std::clamp(0.9 * std::pow(error, -0.2), 0.2, 5.0);
    if (error <= 1.0) {
      y = next;
      k[0] = k[kStages - 1];
      left = last ? 0.0 : left - h;
      if (last && factor >= 1.0) break;  // a truncated step is no estimate for the next
    }
    step_ = h * factor;
    if (!(step_ > 1e-14 * h_)) {
      throw NumericalError(
          "Dormand-Prince: no step is small enough for the tolerance; increase the tolerance");
    }
  }
  s.x = y.head(n);
  s.v = y.tail(n);
}

void AdaptiveSteps::advance(State& s) {
  if (costs_.steps < projections_) {
    const SlowIterate point = project_onto(manifold_, system_, s.x, s.v).back();
    s.x = point.x;
    s.v = point.v;
  }
  DormandPrince::advance(s);
}

}  // namespace tarn::papers
