#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "costs.hpp"

/// @file
/// One-step methods for M q'' = -grad V(q), with or without constraints, and their conserved
/// quantities.
///
/// TO is Tao & Owhadi 2016, AST Ariel, Sanz-Serna & Tsai 2012; equations are those of
/// docs/equations.md. `h` is the time step. A method keeps references to its system and constraint,
/// which must outlive it.

namespace tarn::papers {

/// The state of a method; from it the method continues bit for bit.
struct State {
  Vector x, v;
  Vector f;       ///< the scheme's acceleration at x
  Vector lambda;  ///< multipliers at x, M q'' = -grad V - Gᵀ lambda; empty without constraints
};

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;  // its systems refer to its costs
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;
  /// Fills f and lambda from x and v.
  virtual void begin(State& s) = 0;
  /// The same if the previous steps were those of this method with another time step.
  virtual void take_over(State& s) { begin(s); }
  /// @throws NumericalError if an iteration does not converge
  void step(State& s) {
    advance(s);
    ++costs_.steps;
  }
  /// The point at which energies are evaluated; it is where the forces are computed.
  struct EnergyPlace {
    Vector q;
    double beside = 0.0;  ///< ½ vᵀMv + V(q) plus this is conserved up to the order
  };
  /// @param system the system of the method
  virtual EnergyPlace energy_place(const MechanicalSystem& /*system*/, const State& s) const {
    return {s.x, 0.0};
  }
  const Costs& costs() const { return costs_; }

 protected:
  virtual void advance(State& s) = 0;
  Costs costs_;
};

// --- without constraints -------------------------------------------------------------------------

/// A method that needs only the system, the time step and, in Newmark's family, beta.
class FreeMethod : public Method {
 public:
  FreeMethod(const MechanicalSystem& system, double h, double beta = 0.0)
      : system_(system, costs_), h_(h), beta_(beta), weight_(beta * h * h) {}
  void begin(State&) override {}

 protected:
  /// The place of a Newmark method: q, beside which it conserves ½(β - ¼)h² aᵀMa, equation (41),
  /// exactly if forces are linear.
  EnergyPlace newmark_place(const Vector& q, const Vector& a) const {
    return {q, 0.5 * (beta_ - 0.25) * h_ * h_ * a.dot(system_.mass_times(a))};
  }
  /// The solution of a = -M⁻¹ grad V(c + w a) to round-off by Newton's method from `a`.
  Vector solve_acceleration(const Vector& c, double w, Vector a);

  CountedSystem system_;
  double h_, beta_, weight_;  ///< weight_ = βh²
};

/// x+ = x + h v + h²/2 f(x), v+ = v + h/2 (f(x) + f(x+)), equation (40); f is kept between steps.
class AccelerationMethod : public FreeMethod {
 public:
  using FreeMethod::FreeMethod;
  void begin(State& s) override { s.f = acceleration(s.x); }

 protected:
  void advance(State& s) override;
  virtual Vector acceleration(const Vector& x) = 0;
};

/// f = -M⁻¹ grad V; symplectic.
class Verlet : public AccelerationMethod {
 public:
  using AccelerationMethod::AccelerationMethod;
  void take_over(State&) override {}

 private:
  Vector acceleration(const Vector& x) override { return system_.acceleration(x); }
};

/// Methods that are (nearly) conjugate to Newmark's, TO 2.2: their energy place is q = x + βh² f.
class NewmarkFamily : public AccelerationMethod {
 public:
  using AccelerationMethod::AccelerationMethod;
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return newmark_place(s.x + weight_ * s.f, s.f);
  }
};

/// Simplified Z&S, TO 2.3: f = a, (M + βh² Hess V) a = -grad V. Symplectic up to terms of order h⁵.
class Zss : public NewmarkFamily {
 public:
  Zss(const MechanicalSystem& system, double h, double beta, Hessian kind = Hessian::full)
      : NewmarkFamily(system, h, beta), kind_(kind) {}

 protected:
  Vector acceleration(const Vector& x) override;

 private:
  Hessian kind_;
};

/// Zhang & Skeel, TO 1.1: f = a - ½β²h⁴ M⁻¹ V‴[a, a]; symplectic.
class Zs : public Zss {
 public:
  using Zss::Zss;
  EnergyPlace energy_place(const MechanicalSystem& system, const State& s) const override;

 private:
  Vector acceleration(const Vector& x) override;
};

/// Simplified Z&S for stiff systems, TO 2.6, with the Hessian of the stiff part only.
class ZssStiff : public Zss {
 public:
  ZssStiff(const MechanicalSystem& system, double h, double beta, Hessian kind = Hessian::stiff)
      : Zss(system, h, beta, kind) {}
};

/// TO 2.2: f = -M⁻¹ grad V(x + βh² f), solved to round-off; symplectic.
class PushforwardNewmark : public NewmarkFamily {
 public:
  using NewmarkFamily::NewmarkFamily;

 private:
  Vector acceleration(const Vector& x) override {
    return solve_acceleration(x, weight_, Vector::Zero(x.size()));
  }
};

/// Newmark's method with γ = ½, TO 2.1, equation (41). Conjugate to a symplectic method.
class Newmark : public FreeMethod {
 public:
  using FreeMethod::FreeMethod;
  void begin(State& s) override { s.f = system_.acceleration(s.x); }
  void take_over(State&) override {}
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return newmark_place(s.x, s.f);
  }

 private:
  void advance(State& s) override;
};

/// Newmark's method with a single Newton step from the old position, TO 4.1, equation (41).
class NewmarkOneStep : public FreeMethod {
 public:
  /// The new acceleration in the update of v: from the Newton step, or from the force at the new
  /// position. The latter is unstable for stiff forces.
  enum class Acceleration { linearised, force };
  NewmarkOneStep(const MechanicalSystem& system, double h, double beta,
                 Acceleration acceleration = Acceleration::linearised)
      : FreeMethod(system, h, beta), kind_(acceleration) {}
  void begin(State& s) override { s.f = system_.acceleration(s.x); }
  void take_over(State&) override {}

 private:
  void advance(State& s) override;
  Acceleration kind_;
};

/// v+ = v - h M⁻¹ grad V(x), x+ = x + h v+, equation (66).
class VariationalEuler : public FreeMethod {
 public:
  using FreeMethod::FreeMethod;

 private:
  void advance(State& s) override {
    s.v += h_ * system_.acceleration(s.x);
    s.x += h_ * s.v;
  }
};

/// The implicit midpoint rule, equation (66).
class Midpoint : public FreeMethod {
 public:
  using FreeMethod::FreeMethod;

 private:
  void advance(State& s) override;
};

/// The classical Runge-Kutta method, equation (66).
class Rk4 : public FreeMethod {
 public:
  using FreeMethod::FreeMethod;

 private:
  void advance(State& s) override;
  /// Called for the point of each evaluation; may move it.
  virtual void project(Vector&, Vector&) {}
};

// --- with constraints ----------------------------------------------------------------------------

/// The multipliers for g'' = 0: (G M⁻¹ Gᵀ) λ = vᵀ Hess g v + G a.
/// @param a accelerations without constraints
Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a);

class ConstrainedMethod : public Method {
 public:
  ConstrainedMethod(const MechanicalSystem& system, const Constraint& constraint, double h)
      : system_(system, costs_), constraint_(constraint), h_(h) {}

 protected:
  /// (G M⁻¹ Gᵀ)⁻¹ times values of the constraints, with G at x.
  Vector solve_gram(const Vector& x, const Vector& values);

  CountedSystem system_;
  const Constraint& constraint_;
  double h_;
};

/// Verlet with constraint forces -Gᵀ lambda for which the next position satisfies the constraints,
/// equation (43).
class ConstrainedVerlet : public ConstrainedMethod {
 public:
  using ConstrainedMethod::ConstrainedMethod;
  void begin(State& s) override;
  void take_over(State& s) override;

 protected:
  /// Solves for the multipliers for which s.x + h v + weight f, f = -M⁻¹ (grad V + Gᵀ lambda),
  /// satisfies the constraints, by Newton's method from s.lambda; sets s.f = f.
  /// @param gradient grad V(s.x)
  void solve_multipliers(const Vector& gradient, const Vector& v, double weight, State& s);
};

/// SHAKE, with velocities v_k = (x_{k+1} - x_{k-1}) / 2h and multipliers of second order at t_k.
class Shake : public ConstrainedVerlet {
 public:
  using ConstrainedVerlet::ConstrainedVerlet;

 private:
  void advance(State& s) override;
};

/// RATTLE: velocities satisfy the constraints. Its multiplier is that of the next position, of
/// first order at t_k.
class Rattle : public ConstrainedVerlet {
 public:
  using ConstrainedVerlet::ConstrainedVerlet;

 private:
  void advance(State& s) override;
};

/// The midpoint rule for the constrained equations with explicit multipliers,
/// G M⁻¹ Gᵀ lambda = vᵀ Hess g v - G M⁻¹ grad V, equation (51). It drifts off the constraints,
/// MS 6.3.
class ConstrainedMidpoint : public ConstrainedMethod {
 public:
  /// The equations for g other than zero: newton is x'' = -M⁻¹(grad V + Gᵀ lambda); hamilton are
  /// Hamilton's equations of ½ vᵀMv + V + g·lambda(x, v) with the momentum M v, for which the
  /// midpoint rule is symplectic.
  enum class Equations { newton, hamilton };
  ConstrainedMidpoint(const MechanicalSystem& system, const Constraint& constraint, double h,
                      Equations equations = Equations::newton)
      : ConstrainedMethod(system, constraint, h), equations_(equations) {}
  void begin(State& s) override { s.lambda = multipliers(s.x, s.v, system_.acceleration(s.x)); }
  void take_over(State&) override {}

 private:
  void advance(State& s) override;
  /// @param a -M⁻¹ grad V(x)
  Vector multipliers(const Vector& x, const Vector& v, const Vector& a);
  /// x' and v'.
  std::pair<Vector, Vector> rates(const Vector& x, const Vector& v);

  Equations equations_;
};

// --- slow manifold and step-size control
// -----------------------------------------------------------

/// The slow manifold of a system with a penalty of strength omega.
struct SlowManifold {
  const Constraint& constraint;
  double omega;
  double tolerance;  ///< change of g and its rate at which a projection stops
};

/// One iterate of the projection.
struct SlowIterate {
  Vector x, v;
  Vector g, g_rate;
};

/// The iterative projection algorithm IPA, AST 3.2 and 5.2, equation (48). Each iteration
/// integrates to both sides with 18 Verlet steps of (2π/omega)/6 and averages with a cubic kernel.
/// @param system with the penalty
/// @return the iterates, from the input to the slow point
/// @throws NumericalError if they do not settle
std::vector<SlowIterate> project_onto(const SlowManifold& manifold, const MechanicalSystem& system,
                                      const Vector& x, const Vector& v);

/// The classical Runge-Kutta method with every stage projected onto the slow manifold, AST 6.5.
/// Stages start from P z_n, not from z_n: equation (48).
class ProjectedRk4 : public Rk4 {
 public:
  ProjectedRk4(const MechanicalSystem& system, double h, const SlowManifold& manifold)
      : Rk4(system, h), manifold_(manifold) {}

 private:
  void project(Vector& x, Vector& v) override;
  SlowManifold manifold_;
};

/// The pair of orders 5 and 4 of Dormand & Prince (1980) for x' = v, v' = -M⁻¹ grad V(x), equation
/// (66), with as many inner steps in each step as the tolerance needs. An inner step is accepted if
/// the estimated error of every coordinate and velocity y is below max(relative |y|, absolute). Its
/// length is kept from step to step.
/// A step throws NumericalError if no inner step is small enough.
class DormandPrince : public FreeMethod {
 public:
  DormandPrince(const MechanicalSystem& system, double h, double relative, double absolute)
      : FreeMethod(system, h), relative_(relative), absolute_(absolute) {}

 protected:
  void advance(State& s) override;

 private:
  double relative_, absolute_;
  double step_ = 0.0;  ///< 0: none yet
};

/// DormandPrince with an absolute tolerance of a thousandth of the relative one. The first steps
/// begin with a projection onto the slow manifold.
class AdaptiveSteps : public DormandPrince {
 public:
  AdaptiveSteps(const MechanicalSystem& system, double h, const SlowManifold& manifold,
                std::int64_t projections, double relative)
      : DormandPrince(system, h, relative, 1e-3 * relative),
        manifold_(manifold),
        projections_(projections) {}

 private:
  void advance(State& s) override;
  SlowManifold manifold_;
  std::int64_t projections_;
};

// --- composition ---------------------------------------------------------------------------------

/// yoshida4: Yoshida 1990, k = 1. suzuki4: Suzuki 1990, k = 2; no step is longer than h.
enum class Composition { none, yoshida4, suzuki4 };

/// Composition of a symmetric method of order 2 to order 4, equation (55): k steps with γh, one
/// with (1 - 2kγ)h and k with γh, γ = 1/(2k - ∛(2k)).
///
/// Energies are evaluated at x, where order 4 holds. Newmark's energy place depends on the time
/// step; there only order 2 would remain.
class Composed : public Method {
 public:
  /// @param make makes the method with a time step
  Composed(Composition kind, double h,
           const std::function<std::unique_ptr<Method>(double h)>& make);
  void begin(State& s) override;

 private:
  void advance(State& s) override;
  void add_up();

  int steps_per_side_;
  std::unique_ptr<Method> outer_, inner_;
};

// --- diagnostics ---------------------------------------------------------------------------------

/// ½ vᵀ M v + V(x)
double energy(const MechanicalSystem& system, const State& s);
/// The energy that a method conserves up to its order, at its own energy place.
double energy(const MechanicalSystem& system, const Method& method, const State& s);
/// Σ m v over points with `dimensions` coordinates each.
Vector linear_momentum(const MechanicalSystem& system, const Vector& v, Index dimensions);
/// Σ m (x v_y - y v_x) of the first two coordinates of each point.
double angular_momentum_z(const MechanicalSystem& system, const Vector& x, const Vector& v,
                          Index dimensions);

}  // namespace tarn::papers
