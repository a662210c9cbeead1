#include "dormand_prince.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

void DormandPrince::advance(Vector& x, Vector& v, double time) {
  const Index n = x.size();
  std::array<Vector, kStages> k;  // (x', v') of each stage
  Vector y(2 * n), next(2 * n);
  const auto rates = [&](const Vector& z) {
    ++evaluations_;
    Vector r(2 * n);
    r << z.tail(n), system_.acceleration(z.head(n));
    return r;
  };
  y << x, v;
  k[0] = rates(y);
  if (step_ == 0.0) step_ = time * std::min(1.0, relative_);
  for (double left = time; left > 0.0;) {
    const bool last = step_ >= left;
    const double h = last ? left : step_;
    for (std::size_t s = 1; s < kStages; ++s) {
      next = y;
      for (std::size_t j = 0; j < s; ++j) {
        if (kA[s][j] != 0.0) next += h * kA[s][j] * k[j];
      }
      k[s] = rates(next);
    }
    Vector estimate = Vector::Zero(2 * n);
    for (std::size_t s = 0; s < kStages; ++s) estimate += h * kError[s] * k[s];
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
    if (!(step_ > 1e-14 * time)) {
      throw NumericalError(
          "Dormand-Prince: no step is small enough for the tolerance; increase the tolerance");
    }
  }
  x = y.head(n);
  v = y.tail(n);
}

void AdaptiveSteps::step(State& s) {
  if (costs_.steps < projections_) {
    const SlowIterate point =
        project_onto_slow_manifold(system_, constraint_, omega_, s.x, s.v, tolerance_).back();
    s.x = point.x;
    s.v = point.v;
  }
  pair_.advance(s.x, s.v, h_);
  ++costs_.steps;
}

}  // namespace tarn::papers
