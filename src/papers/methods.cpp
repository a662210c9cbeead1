#include "methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/slow_point.hpp"
#include "tarn/core/error.hpp"

/// @file
/// TO is Tao & Owhadi 2016, AST Ariel, Sanz-Serna & Tsai 2012, MS McLachlan & Scovel 1995.

namespace tarn::papers {
namespace {

constexpr int kMostIterations = 60;
/// Relative change below which an iteration has converged.
constexpr double kRoundOff = 2e-15;
/// Relative rounding error of a converged solution: about 100 units.
constexpr double kRoundingOfQ = 100.0 * std::numeric_limits<double>::epsilon();

/// @param what subject of the message
/// @param change last relative change
[[noreturn]] void throw_not_converged(const char* what, double change,
                                      const char* iterations = "iterations of Newton's method") {
  throw NumericalError(std::string(what) + " did not converge in " +
                       std::to_string(kMostIterations) + " " + iterations +
                       "; the last relative change was " + three_digits(change) +
                       ". A smaller step may help");
}

/// A change relative to a size, which may be 0.
double relative(double change, double size) {
  return change / std::max(size, std::numeric_limits<double>::min());
}

/// A method that is not a composition.
class Scheme : public Method {
 public:
  Scheme(const IntegratorKeys& keys, const Equations& equations)
      : keys_(keys),
        row_(row_of(keys.scheme, equations.is_rigid)),
        equations_(equations),
        system_(equations.system),
        constraint_(equations.constraint) {
    set_step(keys.step);
  }
  void set_step(double h) {
    h_ = h;
    weight_ = beta_ * h * h;
  }
  void begin(State& s) override {
    if (row_.begin != nullptr) (this->*row_.begin)(s);
  }
  void take_over(State& s) override {
    if (row_.take_over != nullptr) (this->*row_.take_over)(s);
  }
  /// A Newmark method conserves ½(β - ¼)h² aᵀMa beside its energy at q, equation (41), exactly if
  /// forces are linear. Methods that are (nearly) conjugate to it, TO 2.2, have q = x + βh² a.
  EnergyPlace energy_place(const State& s) const override {
    if (row_.place == Place::x) return {s.x};
    Vector a = s.f;
    if (row_.place == Place::linearised) {
      a = system_.shifted_mass(s.x, weight_).solve(-system_.gradient(s.x));
    }
    return {row_.place == Place::newmark ? s.x : s.x + weight_ * a,
            0.5 * (beta_ - 0.25) * h_ * h_ * a.dot(system_.mass_times(a))};
  }

 private:
  /// Where energies are evaluated: at x, there with the term of Newmark's method, or at x + βh² a
  /// with a = f or the `a` of Zhang & Skeel.
  enum class Place { x, newmark, pushed, linearised };
  struct Row {
    std::string_view scheme;
    void (Scheme::*advance)(State&);
    void (Scheme::*begin)(State&) = nullptr;
    void (Scheme::*take_over)(State&) = nullptr;  ///< null: the state is valid for any step
    Place place = Place::x;
  };
  static const Row& row_of(std::string_view scheme, bool is_rigid) {
    using S = Scheme;
    static const Row rows[]{
        {"verlet", &S::velocity_step, &S::set_f},
        {"zs", &S::velocity_step, &S::set_f, &S::set_f, Place::linearised},
        {"zss", &S::velocity_step, &S::set_f, &S::set_f, Place::pushed},
        {"zss-stiff", &S::velocity_step, &S::set_f, &S::set_f, Place::pushed},
        {"pushforward-newmark", &S::velocity_step, &S::set_f, &S::set_f, Place::pushed},
        {"newmark", &S::newmark, &S::set_f, nullptr, Place::newmark},
        {"newmark-one-step", &S::newmark_one_step, &S::set_f},
        {"variational-euler", &S::variational_euler},
        {"rk4", &S::rk4},
        {"rk4-projected", &S::rk4},
        {"dormand-prince", &S::dormand_prince},
        {"shake", &S::shake, &S::begin_multipliers, &S::take_over_multipliers},
        {"rattle", &S::rattle, &S::begin_multipliers, &S::take_over_multipliers},
        {"midpoint-hamilton", &S::constrained_midpoint, &S::set_lambda}};
    static const Row midpoint[]{{"midpoint", &S::midpoint},
                                {"midpoint", &S::constrained_midpoint, &S::set_lambda}};
    if (scheme == "midpoint") return midpoint[is_rigid ? 1 : 0];
    const Row* const row = std::ranges::find(rows, scheme, &Row::scheme);
    if (row == std::end(rows)) throw std::logic_error("unknown scheme");
    return *row;
  }

  void advance(State& s) override { (this->*row_.advance)(s); }

  // --- evaluations, which are counted

  Vector gradient(const Vector& q) {
    ++costs_.forces;
    return system_.gradient(q);
  }
  Vector acceleration(const Vector& q) { return system_.mass_solve(-gradient(q)); }
  BandMatrix shifted_mass(const Vector& q, double c, Hessian kind = Hessian::full) {
    ++costs_.hessians;
    return system_.shifted_mass(q, c, kind);
  }
  /// (G M⁻¹ Gᵀ)⁻¹ times values of the constraints, with G at x.
  Vector solve_gram(const Vector& x, const Vector& values) {
    ++costs_.linear_solves;
    return constraint_->gram(x, x, system_.masses()).solve(values);
  }
  void project(Vector& x, Vector& v) {
    const std::vector<SlowIterate> iterates =
        project_onto_slow(equations_, keys_.tolerance, x, v, costs_);
    x = iterates.back().x;
    v = iterates.back().v;
  }

  /// The solution of a = -M⁻¹ grad V(c + w a) to round-off by Newton's method from `a`.
  ///
  /// Rounding of q = c + w a changes the gradient. That moves q by a few of its roundings, however
  /// stiff V is, but `a` by these divided by w, which is large relative to a small `a`.
  Vector solve_acceleration(const Vector& c, double w, Vector a) {
    double last = std::numeric_limits<double>::infinity();
    double change = last;
    for (int i = 0; i < kMostIterations; ++i) {
      const Vector q = c + w * a;
      const Vector residual = system_.mass_times(a) + gradient(q);
      const Vector step = shifted_mass(q, w).solve(residual);
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

  // --- without constraints

  /// The acceleration f that schemes use:
  ///
  /// - verlet and Newmark's methods: -M⁻¹ grad V;
  /// - zss, simplified Z&S, TO 2.3: a, (M + βh² Hess V) a = -grad V. It is symplectic up to terms
  ///   of order h⁵. zss-stiff, TO 2.6, has the Hessian of the stiff part only;
  /// - zs, Zhang & Skeel, TO 1.1: a - ½β²h⁴ M⁻¹ V‴[a, a]; symplectic;
  /// - pushforward-newmark, TO 2.2: f = -M⁻¹ grad V(x + βh² f), solved to round-off; symplectic.
  Vector f_at(const Vector& x) {
    if (keys_.scheme == "pushforward-newmark") {
      return solve_acceleration(x, weight_, Vector::Zero(x.size()));
    }
    if (!keys_.scheme.starts_with("zs")) return acceleration(x);
    ++costs_.linear_solves;
    const Hessian kind = keys_.scheme == "zss-stiff" ? keys_.hessian : Hessian::full;
    const Vector a = shifted_mass(x, weight_, kind).solve(-gradient(x));
    if (keys_.scheme != "zs") return a;
    ++costs_.third_derivatives;
    return a - 0.5 * weight_ * weight_ * system_.mass_solve(system_.third_derivative(x, a));
  }
  void set_f(State& s) { s.f = f_at(s.x); }

  /// x+ = x + h v + h²/2 f(x), v+ = v + h/2 (f(x) + f(x+)), equation (40); f is kept between steps.
  void velocity_step(State& s) {
    s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
    const Vector f = f_at(s.x);
    s.v += 0.5 * h_ * (s.f + f);
    s.f = f;
  }

  /// Newmark's method with γ = ½, TO 2.1, equation (41). Conjugate to a symplectic method.
  void newmark(State& s) {
    const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
    const Vector a = solve_acceleration(c, weight_, s.f);
    s.x = c + weight_ * a;
    s.v += 0.5 * h_ * (s.f + a);
    s.f = a;
  }

  /// Newmark's method with a single Newton step from the old position, TO 4.1, equation (41).
  void newmark_one_step(State& s) {
    const Vector c = s.x + h_ * s.v + (0.5 - beta_) * h_ * h_ * s.f;
    const Vector residual = system_.mass_times(c - s.x + weight_ * s.f);
    s.x += shifted_mass(s.x, weight_).solve(residual);
    const Vector force = acceleration(s.x);
    const bool linearised = keys_.acceleration == Acceleration::linearised;
    const Vector a = linearised ? Vector((s.x - c) / weight_) : force;
    s.v += 0.5 * h_ * (s.f + a);
    s.f = force;
    ++costs_.linear_solves;
  }

  /// v+ = v - h M⁻¹ grad V(x), x+ = x + h v+, equation (66).
  void variational_euler(State& s) {
    s.v += h_ * acceleration(s.x);
    s.x += h_ * s.v;
  }

  /// The implicit midpoint rule, equation (66).
  void midpoint(State& s) {
    // Not from the acceleration at s.x: off stiff constraints it is large and leads to other roots.
    const Vector start = Vector::Zero(s.x.size());
    const Vector a = solve_acceleration(s.x + 0.5 * h_ * s.v, 0.25 * h_ * h_, start);
    s.x += h_ * s.v + 0.5 * h_ * h_ * a;
    s.v += h_ * a;
  }

  /// The classical Runge-Kutta method, equation (66), if projected with every stage on the slow
  /// manifold, AST 6.5. Stages then start from P z_n, not from z_n: equation (48).
  void rk4(State& s) {
    const bool projects = keys_.scheme == "rk4-projected";
    if (projects) project(s.x, s.v);
    const auto rates_here = [&](const Vector& x, const Vector& v) {
      return std::pair<Vector, Vector>(v, acceleration(x));
    };
    const auto rates = [&](Vector x, Vector v) {
      if (projects) project(x, v);
      return rates_here(x, v);
    };
    runge_kutta_step(h_, rates_here(s.x, s.v), rates, s.x, s.v);
  }

  static constexpr int kStages = 7;  // the last stage of a step is the first of the next
  static constexpr std::array<std::array<double, kStages - 1>, kStages> kA{
      {{},
       {1.0 / 5},
       {3.0 / 40, 9.0 / 40},
       {44.0 / 45, -56.0 / 15, 32.0 / 9},
       {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
       {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
       {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}}};
  /// Weights of order 5 (the last row of kA) minus those of order 4.
  static constexpr std::array<double, kStages> kError{
      71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

  /// The pair of orders 5 and 4 of Dormand & Prince (1980) for x' = v, v' = -M⁻¹ grad V(x),
  /// equation (66), with as many inner steps in each step as the tolerance needs. An inner step is
  /// accepted if the estimated error of every coordinate and velocity y is below
  /// max(relative |y|, absolute). Its length is kept from step to step. The first steps may begin
  /// with a projection onto the slow manifold. A step throws NumericalError if no inner step is
  /// small enough.
  void dormand_prince(State& s) {
    if (costs_.steps < keys_.projections) project(s.x, s.v);
    const double tolerance = keys_.relative_tolerance;
    const Index n = s.x.size();
    std::array<Vector, kStages> k;  // (x', v') of each stage
    Vector y(2 * n), next(2 * n);
    const auto rates = [&](const Vector& z) {
      Vector r(2 * n);
      r << z.tail(n), acceleration(z.head(n));
      return r;
    };
    y << s.x, s.v;
    k[0] = rates(y);
    if (inner_step_ == 0.0) inner_step_ = h_ * std::min(1.0, tolerance);
    for (double left = h_; left > 0.0;) {
      const bool last = inner_step_ >= left;
      const double h = last ? left : inner_step_;
      for (int i = 1; i < kStages; ++i) {
        next = y;
        for (int j = 0; j < i; ++j) {
          if (kA[i][j] != 0.0) next += h * kA[i][j] * k[j];
        }
        k[i] = rates(next);
      }
      Vector estimate = Vector::Zero(2 * n);
      for (int i = 0; i < kStages; ++i) estimate += h * kError[i] * k[i];
      double error = 0.0;  // relative to the tolerance
      for (Index i = 0; i < 2 * n; ++i) {
        const double size = std::max(std::abs(y[i]), std::abs(next[i]));
        const double permitted = std::max(tolerance * size, 1e-3 * tolerance);
        error = std::max(error, std::abs(estimate[i]) / permitted);
      }
      if (!next.allFinite() || !estimate.allFinite() || error > 1e30) error = 1e30;
      const double factor = std::clamp(0.9 * std::pow(error, -0.2), 0.2, 5.0);
      if (error <= 1.0) {
        y = next;
        k[0] = k[kStages - 1];
        left = last ? 0.0 : left - h;
        if (last && factor >= 1.0) break;  // a truncated step is no estimate for the next
      }
      inner_step_ = h * factor;
      if (!(inner_step_ > 1e-14 * h_)) {
        throw NumericalError(
            "Dormand-Prince: no step is small enough for the tolerance; increase the tolerance");
      }
    }
    s.x = y.head(n);
    s.v = y.tail(n);
  }

  // --- with constraints

  /// The start of Verlet with constraint forces -Gᵀ lambda for which the next position satisfies
  /// the constraints, equation (43).
  void begin_multipliers(State& s) {
    s.lambda = Vector::Zero(constraint_->count());
    solve_multipliers(gradient(s.x), s.v, 0.5 * h_ * h_, s);
  }
  void take_over_multipliers(State& s) {
    // f contains the gradient; lambda is accurate to the order of the method.
    const Vector gradient = -system_.mass_times(s.f) - constraint_->forces(s.x, s.lambda);
    solve_multipliers(gradient, s.v, 0.5 * h_ * h_, s);
  }

  /// Solves for the multipliers for which s.x + h v + weight f, f = -M⁻¹ (grad V + Gᵀ lambda),
  /// satisfies the constraints, by Newton's method from s.lambda; sets s.f = f.
  /// @param gradient grad V(s.x)
  void solve_multipliers(const Vector& gradient, const Vector& v, double weight, State& s) {
    const Vector& x = s.x;
    const Vector a = system_.mass_solve(-gradient);
    const Vector y = x + h_ * v + weight * a;
    Vector q = y - weight * system_.mass_solve(constraint_->forces(x, s.lambda));
    double last = std::numeric_limits<double>::infinity();
    double change = last;
    for (int i = 0;; ++i) {
      if (i == kMostIterations || !std::isfinite(i == 0 ? 0.0 : change)) {
        throw_not_converged("the constraints", change);
      }
      const BandMatrix gram = constraint_->gram(q, x, system_.masses(), weight);
      const Vector step = gram.solve(constraint_->values(q));
      const Vector moved = weight * system_.mass_solve(constraint_->forces(x, step));
      s.lambda += step;
      q -= moved;
      ++costs_.iterations;
      ++costs_.linear_solves;
      // Not the change of lambda: for small h that is rounding of q, amplified by 1/h².
      change = relative(size_of(moved), size_of(q));
      if (change <= kRoundOff || (change < 1e-12 && change >= 0.25 * last)) break;
      last = change;
    }
    s.f = -system_.mass_solve(gradient + constraint_->forces(x, s.lambda));
  }

  /// SHAKE, with velocities v_k = (x_{k+1} - x_{k-1}) / 2h and multipliers of second order at t_k.
  void shake(State& s) {
    s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
    const Vector half = s.v + 0.5 * h_ * s.f;
    solve_multipliers(gradient(s.x), half, h_ * h_, s);
    s.v = half + 0.5 * h_ * s.f;
  }

  /// RATTLE: velocities satisfy the constraints. Its multiplier is that of the next position, of
  /// first order at t_k.
  void rattle(State& s) {
    s.x += h_ * s.v + 0.5 * h_ * h_ * s.f;
    const Vector slope = gradient(s.x);
    s.v += 0.5 * h_ * (s.f + system_.mass_solve(-slope));
    const Vector mu = solve_gram(s.x, constraint_->rates(s.x, s.v));
    s.v -= system_.mass_solve(constraint_->forces(s.x, mu));
    solve_multipliers(slope, s.v, 0.5 * h_ * h_, s);
  }

  /// Multipliers of the midpoint rule.
  /// @param a -M⁻¹ grad V(x)
  Vector multipliers(const Vector& x, const Vector& v, const Vector& a) {
    return solve_gram(x, constraint_->curvatures(x, v) + constraint_->rates(x, a));
  }
  void set_lambda(State& s) { s.lambda = multipliers(s.x, s.v, acceleration(s.x)); }

  /// x' and v'.
  std::pair<Vector, Vector> constrained_rates(const Vector& x, const Vector& v) {
    const Vector a = acceleration(x);
    const Vector lambda = multipliers(x, v, a);
    const Vector pull = system_.mass_solve(constraint_->forces(x, lambda));
    if (keys_.scheme != "midpoint-hamilton") return {v, a - pull};
    // Derivatives of g·lambda = w·(vᵀ Hess g v + G a), w = (G M⁻¹ Gᵀ)⁻¹ g, at constant g; the
    // derivative of g is the pull.
    const Vector w = solve_gram(x, constraint_->values(x));
    const Vector along = system_.mass_solve(constraint_->forces(x, w));
    BandMatrix hessian(system_.size(), system_.sparsity());
    system_.add_hessian(x, 1.0, hessian, Hessian::full);
    ++costs_.hessians;
    const Vector over_x = constraint_->third_derivatives(x, w, v) +
                          constraint_->hessian_times(x, w, a - pull) -
                          constraint_->hessian_times(x, lambda, along) - hessian.to_dense() * along;
    return {v + 2.0 * system_.mass_solve(constraint_->hessian_times(x, w, v)),
            a - pull - system_.mass_solve(over_x)};
  }

  /// The midpoint rule for the constrained equations with explicit multipliers,
  /// G M⁻¹ Gᵀ lambda = vᵀ Hess g v - G M⁻¹ grad V, equation (51). It drifts off the constraints,
  /// MS 6.3. For g other than zero the equations are x'' = -M⁻¹(grad V + Gᵀ lambda) or, with
  /// midpoint-hamilton, Hamilton's equations of ½ vᵀMv + V + g·lambda(x, v) with the momentum M v,
  /// for which the midpoint rule is symplectic.
  void constrained_midpoint(State& s) {
    // Fixed-point iteration for the midpoint; it contracts by about h/2 times a frequency.
    Vector x = s.x, v = s.v;
    double change = 0.0, last = 0.0;
    for (int i = 0;; ++i) {
      const auto [x_rate, v_rate] = constrained_rates(x, v);
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
    set_lambda(s);
  }

  IntegratorKeys keys_;
  const Row& row_;
  Equations equations_;
  const MechanicalSystem& system_;
  const Constraint* constraint_;
  double beta_ = keys_.beta.value_or(0.0);
  double h_, weight_;        ///< weight_ = βh²
  double inner_step_ = 0.0;  ///< of Dormand & Prince; 0: none yet
};

/// Composition of a symmetric method of order 2 to order 4, equation (55): k steps with γh, one
/// with (1 - 2kγ)h and k with γh, γ = 1/(2k - ∛(2k)).
///
/// Energies are evaluated at x, where order 4 holds. Newmark's energy place depends on the time
/// step; there only order 2 would remain.
class Composed : public Method {
 public:
  Composed(const IntegratorKeys& keys, const Equations& equations)
      : outer_steps_(keys.compose == Composition::yoshida4 ? 2 : 4),
        h_(keys.step),
        gamma_(1.0 / (outer_steps_ - std::cbrt(outer_steps_))),
        part_(keys, equations) {
    part_.set_step(gamma_ * h_);
  }
  void begin(State& s) override {
    part_.begin(s);
    copy_costs();
  }

 private:
  void advance(State& s) override {
    for (int k = 0; k < outer_steps_ / 2; ++k) part_.step(s);
    part_.set_step((1.0 - outer_steps_ * gamma_) * h_);
    part_.take_over(s);
    part_.step(s);
    part_.set_step(gamma_ * h_);
    // The state is also valid for the next step, which begins with the same length.
    part_.take_over(s);
    for (int k = 0; k < outer_steps_ / 2; ++k) part_.step(s);
    copy_costs();
  }
  void copy_costs() {
    const std::int64_t steps = costs_.steps;
    costs_ = part_.costs();
    costs_.steps = steps;
  }

  int outer_steps_;
  double h_, gamma_;
  Scheme part_;
};

}  // namespace

std::unique_ptr<Method> make_method(const IntegratorKeys& keys, const Equations& equations) {
  if (keys.compose == Composition::none) return std::make_unique<Scheme>(keys, equations);
  return std::make_unique<Composed>(keys, equations);
}

Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a) {
  return constraint.gram(x, x, masses).solve(constraint.curvatures(x, v) + constraint.rates(x, a));
}

std::vector<SlowIterate> project_onto_slow(const Equations& equations, double tolerance,
                                           const Vector& x, const Vector& v, Costs& costs) {
  const Constraint& constraint = *equations.constraint;
  const auto both = [](const Vector& a, const Vector& b) {
    Vector joined(a.size() + b.size());
    joined << a, b;
    return joined;
  };
  SlowProjection projection;
  projection.acceleration = [&](const Vector& y) {
    ++costs.forces;
    return equations.system.acceleration(y);
  };
  projection.constraints = [&](const Vector& y, const Vector& w) {
    return both(constraint.values(y), constraint.rates(y, w));
  };
  projection.averaged = both;
  projection.move = [](const Vector& mean, Vector& y, Vector& w) {
    y = mean.head(y.size());
    w = mean.tail(w.size());
  };
  projection.window = slow_window(equations.omega, equations.omega);
  projection.tolerance = tolerance;

  std::vector<SlowIterate> iterates;
  const auto add = [&](const Vector& y, const Vector& w) {
    iterates.push_back({y, w, constraint.values(y), constraint.rates(y, w)});
  };
  add(x, v);
  Vector slow_x = x, slow_v = v;
  costs.iterations += move_to_slow_point(projection, slow_x, slow_v, add);
  return iterates;
}

double energy(const MechanicalSystem& system, const Method& method, const State& s) {
  const Method::EnergyPlace at = method.energy_place(s);
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
