#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "convergence.hpp"
#include "methods.hpp"

namespace tarn::papers {

Vector solve_gram(const Constraint& constraint, const Vector& masses, const Vector& x,
                  const Vector& values) {
  BandMatrix gram(constraint.count(), constraint.coupling());
  constraint.add_gram(x, x, masses, 1.0, gram);
  return gram.solve(values);
}

Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a) {
  return solve_gram(constraint, masses, x, constraint.curvatures(x, v) + constraint.rates(x, a));
}

void ConstrainedMethod::solve_multipliers(const Vector& x, const Vector& gradient, const Vector& y,
                                          double weight, State& s) {
  Vector q = y - weight * system_.mass_solve(constraint_.forces(x, s.lambda));
  double last = std::numeric_limits<double>::infinity();
  double change = last;
  for (int i = 0;; ++i) {
    if (i == kMostIterations || !std::isfinite(i == 0 ? 0.0 : change)) {
      throw_not_converged("the constraints", change);
    }
    BandMatrix gram(constraint_.count(), constraint_.coupling());
    constraint_.add_gram(q, x, system_.masses(), weight, gram);
    const Vector step = gram.solve(constraint_.values(q));
    const Vector moved = weight * system_.mass_solve(constraint_.forces(x, step));
    s.lambda += step;
    q -= moved;
    ++costs_.iterations;
    ++costs_.linear_solves;
    // Not the change of lambda: for small h that is rounding of q, amplified by 1/h².
    change = relative(moved.lpNorm<Eigen::Infinity>(), q.lpNorm<Eigen::Infinity>());
    if (change <= kRoundOff || (change < 1e-12 && change >= 0.25 * last)) break;
    last = change;
  }
  s.f = -system_.mass_solve(gradient + constraint_.forces(x, s.lambda));
}

void ConstrainedMethod::begin(State& s) {
  s.lambda = Vector::Zero(constraint_.count());
  start_from(system_.gradient(s.x), s);
}

void ConstrainedMethod::take_over(State& s) {
  // f contains the gradient; lambda is accurate to the order of the method.
  start_from(-system_.mass_times(s.f) - constraint_.forces(s.x, s.lambda), s);
}

void ConstrainedMethod::start_from(const Vector& gradient, State& s) {
  const double weight = 0.5 * h_ * h_;
  const Vector a = system_.mass_solve(-gradient);
  solve_multipliers(s.x, gradient, s.x + h_ * s.v + weight * a, weight, s);
}

void Shake::step(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector half = s.v + 0.5 * h_ * s.f;
  const Vector gradient = system_.gradient(s.x);
  const Vector a = system_.mass_solve(-gradient);
  solve_multipliers(s.x, gradient, s.x + h_ * half + h_ * h_ * a, h_ * h_, s);
  s.v = half + 0.5 * h_ * s.f;
  ++costs_.steps;
}

void Rattle::step(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector gradient = system_.gradient(s.x);
  const Vector a = system_.mass_solve(-gradient);
  s.v += 0.5 * h_ * (s.f + a);
  const Vector mu = solve_gram(constraint_, system_.masses(), s.x, constraint_.rates(s.x, s.v));
  s.v -= system_.mass_solve(constraint_.forces(s.x, mu));
  ++costs_.linear_solves;
  const double weight = 0.5 * h_ * h_;
  solve_multipliers(s.x, gradient, s.x + h_ * s.v + weight * a, weight, s);
  ++costs_.steps;
}

Vector ConstrainedMidpoint::solve_gram(const Vector& x, const Vector& values) {
  ++costs_.linear_solves;
  return papers::solve_gram(constraint_, system_.masses(), x, values);
}

Vector ConstrainedMidpoint::multipliers(const Vector& x, const Vector& v, const Vector& a) {
  ++costs_.linear_solves;
  return multipliers_at(constraint_, system_.masses(), x, v, a);
}

void ConstrainedMidpoint::begin(State& s) {
  s.lambda = multipliers(s.x, s.v, system_.acceleration(s.x));
}

std::pair<Vector, Vector> ConstrainedMidpoint::rates(const Vector& x, const Vector& v) {
  const Vector a = system_.acceleration(x);
  const Vector lambda = multipliers(x, v, a);
  const Vector pull = system_.mass_solve(constraint_.forces(x, lambda));
  if (equations_ == Equations::newton) return {v, a - pull};
  // Derivatives of g·lambda = w·(vᵀ Hess g v + G a), w = (G M⁻¹ Gᵀ)⁻¹ g, at constant g; the
  // derivative of g is the pull.
  const Vector w = solve_gram(x, constraint_.values(x));
  const Vector along = system_.mass_solve(constraint_.forces(x, w));
  BandMatrix hessian(system_.size(), system_.sparsity());
  system_.add_hessian(x, 1.0, hessian);
  const Vector over_x = constraint_.third_derivatives(x, w, v) +
                        constraint_.hessian_times(x, w, a - pull) -
                        constraint_.hessian_times(x, lambda, along) - hessian.to_dense() * along;
  return {v + 2.0 * system_.mass_solve(constraint_.hessian_times(x, w, v)),
          a - pull - system_.mass_solve(over_x)};
}

void ConstrainedMidpoint::step(State& s) {
  // Fixed-point iteration for the midpoint; it contracts by about h/2 times a frequency.
  Vector x = s.x, v = s.v;
  double change = 0.0, last = 0.0;
  for (int i = 0;; ++i) {
    const auto [x_rate, v_rate] = rates(x, v);
    const Vector next_x = s.x + 0.5 * h_ * x_rate, next_v = s.v + 0.5 * h_ * v_rate;
    const double largest =
        std::max(next_x.lpNorm<Eigen::Infinity>(), next_v.lpNorm<Eigen::Infinity>());
    change = relative(
        std::max((next_x - x).lpNorm<Eigen::Infinity>(), (next_v - v).lpNorm<Eigen::Infinity>()),
        largest);
    x = next_x;
    v = next_v;
    ++costs_.iterations;
    if (change <= kRoundOff || (i > 2 && change < 1e-13 && change >= last)) break;
    if (i == kMostIterations || !std::isfinite(change)) {
      throw_not_converged("the midpoint rule", change, "iterations");
    }
    last = change;
  }
  s.x = 2.0 * x - s.x;
  s.v = 2.0 * v - s.v;
  begin(s);
  ++costs_.steps;
}

}  // namespace tarn::papers
