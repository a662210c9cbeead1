#include "tarn/mechanics/methods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runge_kutta.hpp"
#include "tarn/core/error.hpp"

namespace tarn::mechanics {
namespace {

constexpr int kMostIterations = 60;
constexpr double kRoundOff = 2e-15;

[[noreturn]] void no_convergence(const char* what, double change,
                                 const char* iterations = "iterations of Newton's method") {
  throw NumericalError(std::string(what) + " did not converge in " +
                       std::to_string(kMostIterations) + " " + iterations +
                       "; the last change, relative, was " + three_digits(change) +
                       ". A smaller step may help");
}

/// A change over the size of what changes, which may be 0.
double relative(double change, double size) {
  return change / std::max(size, std::numeric_limits<double>::min());
}

/// What rounding may leave of a solution: some hundred of its units.
constexpr double kRest = 100.0 * std::numeric_limits<double>::epsilon();

/// Solves a = -M⁻¹ grad V(c + w a) to round-off by Newton's method from `a`.
///
/// What rounding of q = c + w a does to the gradient moves q by some of its own roundings, however
/// stiff V is, but `a` by these over w, which is much where `a` is small.
void solve_acceleration(const MechanicalSystem& system, const Vector& c, double w, Vector& a,
                        Costs& costs) {
  double last = std::numeric_limits<double>::infinity();
  double change = last;
  for (int i = 0; i < kMostIterations; ++i) {
    const Vector q = c + w * a;
    const Vector residual = system.mass_times(a) + system.gradient(q);
    const Vector step = system.shifted_mass(q, w).solve(residual);
    a -= step;
    ++costs.iterations;
    ++costs.linear_solves;
    change = relative(step.lpNorm<Eigen::Infinity>(), a.lpNorm<Eigen::Infinity>());
    const double moved = relative(w * step.lpNorm<Eigen::Infinity>(), q.lpNorm<Eigen::Infinity>());
    // Near the end rounding of the residual, not Newton's method, makes the change.
    const bool is_near = change < 1e-9 || moved < kRest;
    if (change <= kRoundOff || (is_near && change >= 0.25 * last)) return;
    if (!std::isfinite(change)) break;
    last = change;
  }
  no_convergence("the implicit equation", change);
}

}  // namespace

void AccelerationMethod::step(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector f = acceleration(s.x);
  s.v += 0.5 * h_ * (s.f + f);
  s.f = f;
  ++costs_.steps;
}

Method::EnergyPlace Zs::energy_place(const MechanicalSystem& system, const State& s) const {
  const Vector a = system.shifted_mass(s.x, beta_ * h_ * h_).solve(-system.gradient(s.x));
  return newmark_place(s, a, beta_);
}

Vector Zs::acceleration(const Vector& x) {
  const double w = beta_ * h_ * h_;
  const Vector a = system_.shifted_mass(x, w).solve(-system_.gradient(x));
  ++costs_.linear_solves;
  return a - 0.5 * w * w * system_.mass_solve(system_.third_derivative(x, a));
}

Vector Zss::acceleration(const Vector& x) {
  ++costs_.linear_solves;
  return system_.shifted_mass(x, beta_ * h_ * h_).solve(-system_.gradient(x));
}

Vector ZssStiff::acceleration(const Vector& x) {
  ++costs_.linear_solves;
  const double w = beta_ * h_ * h_;
  const BandMatrix matrix = hessian_ == Hessian::full ? system_.stiff_shifted_mass(x, w)
                                                      : system_.gauss_newton_shifted_mass(x, w);
  return matrix.solve(-system_.gradient(x));
}

Vector PushforwardNewmark::acceleration(const Vector& x) {
  Vector a = Vector::Zero(x.size());
  solve_acceleration(system_, x, beta_ * h_ * h_, a, costs_);
  return a;
}

void Newmark::step(State& s) {
  const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
  Vector a = s.f;
  solve_acceleration(system_, c, beta_ * h_ * h_, a, costs_);
  s.x = c + beta_ * h_ * h_ * a;
  s.v += 0.5 * h_ * (s.f + a);
  s.f = a;
  ++costs_.steps;
}

void NewmarkOneStep::step(State& s) {
  const double w = beta_ * h_ * h_;
  const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
  const Vector residual = system_.mass_times(c - s.x + w * s.f);
  s.x += system_.shifted_mass(s.x, w).solve(residual);
  const Vector force = system_.acceleration(s.x);
  const Vector a = kind_ == Acceleration::linearised ? Vector((s.x - c) / w) : force;
  s.v += 0.5 * h_ * (s.f + a);
  s.f = force;
  ++costs_.steps;
  ++costs_.linear_solves;
}

void VariationalEuler::step(State& s) {
  s.v += h_ * system_.acceleration(s.x);
  s.x += h_ * s.v;
  ++costs_.steps;
}

void Midpoint::step(State& s) {
  // Not from the acceleration at s.x: off stiff constraints it is large, and leads to other roots.
  Vector a = Vector::Zero(s.x.size());
  solve_acceleration(system_, s.x + 0.5 * h_ * s.v, 0.25 * h_ * h_, a, costs_);
  s.x += h_ * s.v + 0.5 * h_ * h_ * a;
  s.v += h_ * a;
  ++costs_.steps;
}

void Rk4::step(State& s) {
  project(s.x, s.v);
  const auto rates_here = [&](const Vector& x, const Vector& v) {
    return std::pair<Vector, Vector>(v, system_.acceleration(x));
  };
  const auto rates = [&](Vector x, Vector v) {
    project(x, v);
    return rates_here(x, v);
  };
  runge_kutta_step(h_, rates_here(s.x, s.v), rates, s.x, s.v);
  ++costs_.steps;
}

// --- constraints ---------------------------------------------------------------------------------

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
      no_convergence("the constraints", change);
    }
    BandMatrix gram(constraint_.count(), constraint_.coupling());
    constraint_.add_gram(q, x, system_.masses(), weight, gram);
    const Vector step = gram.solve(constraint_.values(q));
    const Vector moved = weight * system_.mass_solve(constraint_.forces(x, step));
    s.lambda += step;
    q -= moved;
    ++costs_.iterations;
    ++costs_.linear_solves;
    // Not the change of lambda: at small h it is rounding of q, enlarged by 1/h².
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
  // f holds the gradient, and lambda differs by terms of the order of the steps.
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
  return mechanics::solve_gram(constraint_, system_.masses(), x, values);
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
  // Of g·lambda = w·(vᵀ Hess g v + G a) with w = (G M⁻¹ Gᵀ)⁻¹ g, the derivatives by which g itself
  // is left alone; those of g are the pull.
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
  // The fixed point of the middle, which contracts by some h/2 times a frequency.
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
      no_convergence("the midpoint rule", change, "iterations");
    }
    last = change;
  }
  s.x = 2.0 * x - s.x;
  s.v = 2.0 * v - s.v;
  begin(s);
  ++costs_.steps;
}

// --- composition ---------------------------------------------------------------------------------

Composed::Composed(Kind kind, double h,
                   const std::function<std::unique_ptr<Method>(double h)>& make)
    : steps_a_side_(kind == Kind::triple_jump ? 1 : 2) {
  const double outer_steps = 2.0 * steps_a_side_;
  const double gamma = 1.0 / (outer_steps - std::cbrt(outer_steps));
  outer_ = make(gamma * h);
  inner_ = make((1.0 - outer_steps * gamma) * h);
}

void Composed::begin(State& s) {
  outer_->begin(s);
  add_up(costs_.steps);
}

void Composed::step(State& s) {
  for (int k = 0; k < steps_a_side_; ++k) outer_->step(s);
  inner_->take_over(s);
  inner_->step(s);
  // What this keeps is for the next step too, which begins with the same method.
  outer_->take_over(s);
  for (int k = 0; k < steps_a_side_; ++k) outer_->step(s);
  add_up(costs_.steps + 1);
}

void Composed::add_up(std::int64_t steps) {
  costs_ = outer_->costs() + inner_->costs();
  costs_.steps = steps;
}

}  // namespace tarn::mechanics
