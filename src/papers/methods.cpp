#include "methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/slow_point.hpp"

namespace tarn::papers {
namespace {

/// Relative rounding error of a converged solution: about 100 units.
constexpr double kRoundingOfQ = 100.0 * std::numeric_limits<double>::epsilon();

Vector gram_solution(const Constraint& constraint, const Vector& masses, const Vector& x,
                     const Vector& values) {
  BandMatrix gram(constraint.count(), constraint.coupling());
  constraint.add_gram(x, x, masses, 1.0, gram);
  return gram.solve(values);
}

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

// --- without constraints -------------------------------------------------------------------------

/// Rounding of q = c + w a changes the gradient. That moves q by a few of its roundings, however
/// stiff V is, but `a` by these divided by w, which is large relative to a small `a`.
Vector FreeMethod::solve_acceleration(const Vector& c, double w, Vector a) {
  double last = std::numeric_limits<double>::infinity();
  double change = last;
  for (int i = 0; i < kMostIterations; ++i) {
    const Vector q = c + w * a;
    const Vector residual = system_.mass_times(a) + system_.gradient(q);
    const Vector step = system_.shifted_mass(q, w).solve(residual);
    a -= step;
    ++costs_.iterations;
    ++costs_.linear_solves;
    change = relative(size_of(step), size_of(a));
    const double moved = relative(w * size_of(step), size_of(q));
    // Near the end the change is due to rounding of the residual.
    const bool is_near = change < 1e-9 || moved < kRoundingOfQ;
    if (change <= kRoundOff || (is_near && change >= 0.25 * last)) return a;
    if (!std::isfinite(change)) break;
    last = change;
  }
  throw_not_converged("the implicit equation", change);
}

void AccelerationMethod::advance(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector f = acceleration(s.x);
  s.v += 0.5 * h_ * (s.f + f);
  s.f = f;
}

Vector Zss::acceleration(const Vector& x) {
  ++costs_.linear_solves;
  return system_.shifted_mass(x, weight_, kind_).solve(-system_.gradient(x));
}

Method::EnergyPlace Zs::energy_place(const MechanicalSystem& system, const State& s) const {
  const Vector a = system.shifted_mass(s.x, weight_).solve(-system.gradient(s.x));
  return newmark_place(s.x + weight_ * a, a);
}

Vector Zs::acceleration(const Vector& x) {
  const Vector a = Zss::acceleration(x);
  return a - 0.5 * weight_ * weight_ * system_.mass_solve(system_.third_derivative(x, a));
}

void Newmark::advance(State& s) {
  const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
  const Vector a = solve_acceleration(c, weight_, s.f);
  s.x = c + weight_ * a;
  s.v += 0.5 * h_ * (s.f + a);
  s.f = a;
}

void NewmarkOneStep::advance(State& s) {
  const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
  const Vector residual = system_.mass_times(c - s.x + weight_ * s.f);
  s.x += system_.shifted_mass(s.x, weight_).solve(residual);
  const Vector force = system_.acceleration(s.x);
  const Vector a = kind_ == Acceleration::linearised ? Vector((s.x - c) / weight_) : force;
  s.v += 0.5 * h_ * (s.f + a);
  s.f = force;
  ++costs_.linear_solves;
}

void Midpoint::advance(State& s) {
  // Not from the acceleration at s.x: off stiff constraints it is large and leads to other roots.
  const Vector start = Vector::Zero(s.x.size());
  const Vector a = solve_acceleration(s.x + 0.5 * h_ * s.v, 0.25 * h_ * h_, start);
  s.x += h_ * s.v + 0.5 * h_ * h_ * a;
  s.v += h_ * a;
}

void Rk4::advance(State& s) {
  project(s.x, s.v);
  const auto rates_here = [&](const Vector& x, const Vector& v) {
    return std::pair<Vector, Vector>(v, system_.acceleration(x));
  };
  const auto rates = [&](Vector x, Vector v) {
    project(x, v);
    return rates_here(x, v);
  };
  runge_kutta_step(h_, rates_here(s.x, s.v), rates, s.x, s.v);
}

// --- with constraints ----------------------------------------------------------------------------

Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a) {
  return gram_solution(constraint, masses, x, constraint.curvatures(x, v) + constraint.rates(x, a));
}

Vector ConstrainedMethod::solve_gram(const Vector& x, const Vector& values) {
  ++costs_.linear_solves;
  return gram_solution(constraint_, system_.masses(), x, values);
}

void ConstrainedVerlet::solve_multipliers(const Vector& gradient, const Vector& v, double weight,
                                          State& s) {
  const Vector& x = s.x;
  const Vector a = system_.mass_solve(-gradient);
  const Vector y = x + h_ * v + weight * a;
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
    change = relative(size_of(moved), size_of(q));
    if (change <= kRoundOff || (change < 1e-12 && change >= 0.25 * last)) break;
    last = change;
  }
  s.f = -system_.mass_solve(gradient + constraint_.forces(x, s.lambda));
}

void ConstrainedVerlet::begin(State& s) {
  s.lambda = Vector::Zero(constraint_.count());
  solve_multipliers(system_.gradient(s.x), s.v, 0.5 * h_ * h_, s);
}

void ConstrainedVerlet::take_over(State& s) {
  // f contains the gradient; lambda is accurate to the order of the method.
  const Vector gradient = -system_.mass_times(s.f) - constraint_.forces(s.x, s.lambda);
  solve_multipliers(gradient, s.v, 0.5 * h_ * h_, s);
}

void Shake::advance(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector half = s.v + 0.5 * h_ * s.f;
  solve_multipliers(system_.gradient(s.x), half, h_ * h_, s);
  s.v = half + 0.5 * h_ * s.f;
}

void Rattle::advance(State& s) {
  s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
  const Vector gradient = system_.gradient(s.x);
  s.v += 0.5 * h_ * (s.f + system_.mass_solve(-gradient));
  const Vector mu = solve_gram(s.x, constraint_.rates(s.x, s.v));
  s.v -= system_.mass_solve(constraint_.forces(s.x, mu));
  solve_multipliers(gradient, s.v, 0.5 * h_ * h_, s);
}

Vector ConstrainedMidpoint::multipliers(const Vector& x, const Vector& v, const Vector& a) {
  return solve_gram(x, constraint_.curvatures(x, v) + constraint_.rates(x, a));
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
  system_.add_hessian(x, 1.0, hessian, Hessian::full);
  const Vector over_x = constraint_.third_derivatives(x, w, v) +
                        constraint_.hessian_times(x, w, a - pull) -
                        constraint_.hessian_times(x, lambda, along) - hessian.to_dense() * along;
  return {v + 2.0 * system_.mass_solve(constraint_.hessian_times(x, w, v)),
          a - pull - system_.mass_solve(over_x)};
}

void ConstrainedMidpoint::advance(State& s) {
  // Fixed-point iteration for the midpoint; it contracts by about h/2 times a frequency.
  Vector x = s.x, v = s.v;
  double change = 0.0, last = 0.0;
  for (int i = 0;; ++i) {
    const auto [x_rate, v_rate] = rates(x, v);
    const Vector next_x = s.x + 0.5 * h_ * x_rate, next_v = s.v + 0.5 * h_ * v_rate;
    const double largest = std::max(size_of(next_x), size_of(next_v));
    change = relative(std::max(size_of(next_x - x), size_of(next_v - v)), largest);
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
}

// --- slow manifold and step-size control
// -----------------------------------------------------------

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

// --- composition and diagnostics -----------------------------------------------------------------

Composed::Composed(Composition kind, double h,
                   const std::function<std::unique_ptr<Method>(double h)>& make)
    : steps_per_side_(kind == Composition::yoshida4 ? 1 : 2) {
  const double outer_steps = 2.0 * steps_per_side_;
  const double gamma = 1.0 / (outer_steps - std::cbrt(outer_steps));
  outer_ = make(gamma * h);
  inner_ = make((1.0 - outer_steps * gamma) * h);
}

void Composed::begin(State& s) {
  outer_->begin(s);
  add_up();
}

void Composed::advance(State& s) {
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  inner_->take_over(s);
  inner_->step(s);
  // Its state is also valid for the next step, which begins with the same method.
  outer_->take_over(s);
  for (int k = 0; k < steps_per_side_; ++k) outer_->step(s);
  add_up();
}

void Composed::add_up() {
  const std::int64_t steps = costs_.steps;
  costs_ = outer_->costs() + inner_->costs();
  costs_.steps = steps;
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
