#include "methods.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "convergence.hpp"

namespace tarn::papers {
namespace {

/// Relative rounding error of a converged solution: about 100 units.
constexpr double kRoundingOfQ = 100.0 * std::numeric_limits<double>::epsilon();

/// Solves a = -M⁻¹ grad V(c + w a) to round-off by Newton's method from `a`.
///
/// Rounding of q = c + w a changes the gradient. That moves q by a few of its roundings, however
/// stiff V is, but `a` by these divided by w, which is large relative to a small `a`.
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
    // Near the end the change is due to rounding of the residual.
    const bool is_near = change < 1e-9 || moved < kRoundingOfQ;
    if (change <= kRoundOff || (is_near && change >= 0.25 * last)) return;
    if (!std::isfinite(change)) break;
    last = change;
  }
  throw_not_converged("the implicit equation", change);
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
  return newmark_place(s, a);
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
  // Not from the acceleration at s.x: off stiff constraints it is large and leads to other roots.
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

Composed::Composed(Kind kind, double h,
                   const std::function<std::unique_ptr<Method>(double h)>& make)
    : steps_per_side_(kind == Kind::triple_jump ? 1 : 2) {
  const double outer_steps = 2.0 * steps_per_side_;
  const double gamma = 1.0 / (outer_steps - std::cbrt(outer_steps));
  outer_ = make(gamma * h);
  inner_ = make((1.0 - outer_steps * gamma) * h);
}

void Composed::begin(State& s) {
  outer_->begin(s);
  add_up(costs_.steps);
}

void Composed::step(State& s) {
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  inner_->take_over(s);
  inner_->step(s);
  // Its state is also valid for the next step, which begins with the same method.
  outer_->take_over(s);
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  add_up(costs_.steps + 1);
}

void Composed::add_up(std::int64_t steps) {
  costs_ = outer_->costs() + inner_->costs();
  costs_.steps = steps;
}

State advanced(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  State s{x, v, {}, {}};
  method.begin(s);
  for (std::int64_t k = 0; k < steps; ++k) method.step(s);
  return s;
}

double energy(const MechanicalSystem& system, const Method& method, const State& s) {
  const Method::EnergyPlace at = method.energy_place(system, s);
  return system.kinetic(s.v) + system.potential(at.q) + at.beside;
}

double energy(const MechanicalSystem& system, const State& s) {
  return system.kinetic(s.v) + system.potential(s.x);
}

Vector linear_momentum(const MechanicalSystem& system, const Vector& v, Index dimensions) {
  return system.mass_times(v).reshaped(dimensions, v.size() / dimensions).rowwise().sum();
}

double angular_momentum_z(const MechanicalSystem& system, const Vector& x, const Vector& v,
                          Index dimensions) {
  const Vector p = system.mass_times(v);
  double sum = 0.0;
  for (Index k = 0; k < x.size(); k += dimensions) sum += x[k] * p[k + 1] - x[k + 1] * p[k];
  return sum;
}

}  // namespace tarn::papers
