#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tarn/mechanics/costs.hpp"

/// @file
/// One-step methods for M q'' = -grad V(q), with or without constraints.
///
/// TO is Tao & Owhadi 2016; equations are those of docs/equations.md. Each method is a small type
/// with its properties as constants: `order`, `is_symplectic` (its map (x, v) keeps dx ∧ M dv),
/// `is_reversible` (steps back undo steps). `h` is the length of its step. A method refers to its
/// system and constraint, which must outlive it.

namespace tarn::mechanics {

/// All that is needed to go on bit for bit.
struct State {
  Vector x, v;
  Vector f;       ///< the scheme's acceleration at x
  Vector lambda;  ///< multipliers at x, M q'' = -grad V - Gᵀ lambda; empty without constraints
};

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;  // its systems count into its costs
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;
  /// Fills f and lambda from x and v.
  virtual void begin(State& s) = 0;
  /// The same where the steps so far were those of this method with another length.
  virtual void take_over(State& s) { begin(s); }
  /// @throws NumericalError when an iteration does not converge
  virtual void step(State& s) = 0;
  /// Where energies are taken, which is where forces are.
  struct EnergyPlace {
    Vector q;
    double beside = 0.0;  ///< what is conserved, up to the order, is ½ vᵀMv + V(q) and this
  };
  /// @param system that of the method
  virtual EnergyPlace energy_place(const MechanicalSystem& /*system*/, const State& s) const {
    return {s.x, 0.0};
  }
  const Costs& costs() const { return costs_; }

 protected:
  Costs costs_;
};

/// ½(β - ¼)h² aᵀMa, equation (41): with the energy at q, Newmark's method keeps the sum exactly
/// where forces are linear.
inline double newmark_energy(const MechanicalSystem& system, double h, double beta,
                             const Vector& a) {
  return 0.5 * (beta - 0.25) * h * h * a.dot(system.mass_times(a));
}

// --- x+ = x + h v + h²/2 f(x), v+ = v + h/2 (f(x) + f(x+))
// -----------------------------------------

/// The step that the following methods share, equation (40); f is kept from step to step.
class AccelerationMethod : public Method {
 public:
  static constexpr int order = 2;
  static constexpr bool is_reversible = true;

  void begin(State& s) override { s.f = acceleration(s.x); }
  void step(State& s) override;

 protected:
  AccelerationMethod(const MechanicalSystem& system, double h) : system_(system, costs_), h_(h) {}
  virtual Vector acceleration(const Vector& x) = 0;
  /// Of methods conjugate to Newmark's, or nearly so, TO 2.2: q = x + βh² a.
  EnergyPlace newmark_place(const State& s, const Vector& a, double beta) const {
    return {s.x + beta * h_ * h_ * a, newmark_energy(system_, h_, beta, a)};
  }

  CountedSystem system_;
  double h_;
};

/// f = -M⁻¹ grad V
class Verlet : public AccelerationMethod {
 public:
  static constexpr bool is_symplectic = true;
  Verlet(const MechanicalSystem& system, double h) : AccelerationMethod(system, h) {}
  void take_over(State&) override {}

 private:
  Vector acceleration(const Vector& x) override { return system_.acceleration(x); }
};

/// Zhang & Skeel, TO 1.1: f = a - ½β²h⁴ M⁻¹ V‴[a, a], (M + βh² Hess V) a = -grad V.
class Zs : public AccelerationMethod {
 public:
  static constexpr bool is_symplectic = true;
  Zs(const MechanicalSystem& system, double h, double beta)
      : AccelerationMethod(system, h), beta_(beta) {}
  EnergyPlace energy_place(const MechanicalSystem& system, const State& s) const override;

 private:
  Vector acceleration(const Vector& x) override;
  double beta_;
};

/// Simplified, TO 2.3: f = a. Symplectic but for terms of order h⁵.
class Zss : public AccelerationMethod {
 public:
  static constexpr bool is_symplectic = false;
  Zss(const MechanicalSystem& system, double h, double beta)
      : AccelerationMethod(system, h), beta_(beta) {}
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return newmark_place(s, s.f, beta_);
  }

 private:
  Vector acceleration(const Vector& x) override;
  double beta_;
};

/// Simplified for stiff systems, TO 2.6: the Hessian is that of the stiff part only.
class ZssStiff : public AccelerationMethod {
 public:
  static constexpr bool is_symplectic = false;
  /// All of it, or without second derivatives of constraints, which leaves the matrix positive
  /// definite.
  enum class Hessian { full, gauss_newton };
  ZssStiff(const MechanicalSystem& system, double h, double beta, Hessian hessian = Hessian::full)
      : AccelerationMethod(system, h), beta_(beta), hessian_(hessian) {}
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return newmark_place(s, s.f, beta_);
  }

 private:
  Vector acceleration(const Vector& x) override;
  double beta_;
  Hessian hessian_;
};

/// TO 2.2: f = -M⁻¹ grad V(x + βh² f), solved to round-off.
class PushforwardNewmark : public AccelerationMethod {
 public:
  static constexpr bool is_symplectic = true;
  PushforwardNewmark(const MechanicalSystem& system, double h, double beta)
      : AccelerationMethod(system, h), beta_(beta) {}
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return newmark_place(s, s.f, beta_);
  }

  /// η: from the coordinates of Newmark's method to those of this one, x = q + βh² M⁻¹ grad V(q).
  static Vector push_forward(const MechanicalSystem& system, double h, double beta,
                             const Vector& q) {
    return q - beta * h * h * system.acceleration(q);
  }

 private:
  Vector acceleration(const Vector& x) override;
  double beta_;
};

// --- others without constraints ------------------------------------------------------------------

/// Newmark's method with γ = ½, TO 2.1, equation (41). Conjugate to a symplectic method.
class Newmark : public Method {
 public:
  static constexpr int order = 2;
  static constexpr bool is_symplectic = false;
  static constexpr bool is_reversible = true;
  Newmark(const MechanicalSystem& system, double h, double beta)
      : system_(system, costs_), h_(h), beta_(beta) {}
  void begin(State& s) override { s.f = system_.acceleration(s.x); }
  void take_over(State&) override {}
  void step(State& s) override;
  EnergyPlace energy_place(const MechanicalSystem&, const State& s) const override {
    return {s.x, newmark_energy(system_, h_, beta_, s.f)};
  }

 private:
  CountedSystem system_;
  double h_, beta_;
};

/// Newmark's method with a single Newton step from the old position, TO 4.1, equation (41).
class NewmarkOneStep : public Method {
 public:
  /// The new acceleration in the update of v: what the Newton step found, or the force there. The
  /// latter blows up where forces are stiff.
  enum class Acceleration { linearised, force };
  static constexpr int order = 2;
  static constexpr bool is_symplectic = false;
  static constexpr bool is_reversible = false;
  NewmarkOneStep(const MechanicalSystem& system, double h, double beta,
                 Acceleration acceleration = Acceleration::linearised)
      : system_(system, costs_), h_(h), beta_(beta), kind_(acceleration) {}
  void begin(State& s) override { s.f = system_.acceleration(s.x); }
  void take_over(State&) override {}
  void step(State& s) override;

 private:
  CountedSystem system_;
  double h_, beta_;
  Acceleration kind_;
};

/// v+ = v - h M⁻¹ grad V(x), x+ = x + h v+, equation (66).
class VariationalEuler : public Method {
 public:
  static constexpr int order = 1;
  static constexpr bool is_symplectic = true;
  static constexpr bool is_reversible = false;
  VariationalEuler(const MechanicalSystem& system, double h) : system_(system, costs_), h_(h) {}
  void begin(State&) override {}
  void step(State& s) override;

 private:
  CountedSystem system_;
  double h_;
};

/// The implicit midpoint rule, equation (66).
class Midpoint : public Method {
 public:
  static constexpr int order = 2;
  static constexpr bool is_symplectic = true;
  static constexpr bool is_reversible = true;
  Midpoint(const MechanicalSystem& system, double h) : system_(system, costs_), h_(h) {}
  void begin(State&) override {}
  void step(State& s) override;

 private:
  CountedSystem system_;
  double h_;
};

/// The classical Runge-Kutta method, equation (66).
class Rk4 : public Method {
 public:
  static constexpr int order = 4;
  static constexpr bool is_symplectic = false;
  static constexpr bool is_reversible = false;
  Rk4(const MechanicalSystem& system, double h) : system_(system, costs_), h_(h) {}
  void begin(State&) override {}
  void step(State& s) override;

 protected:
  /// Where the right-hand side is evaluated.
  virtual void project(Vector&, Vector&) {}

 private:
  CountedSystem system_;
  double h_;
};

// --- with constraints ----------------------------------------------------------------------------

/// (G M⁻¹ Gᵀ)⁻¹ times some values of the constraints, G at x.
Vector solve_gram(const Constraint& constraint, const Vector& masses, const Vector& x,
                  const Vector& values);
/// The multipliers with which g'' = 0: (G M⁻¹ Gᵀ) λ = vᵀ Hess g v + G a.
/// @param a accelerations without constraints
Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a);

/// Verlet with forces -Gᵀ lambda that put the next position on the constraints, equation (43).
class ConstrainedMethod : public Method {
 public:
  static constexpr int order = 2;
  static constexpr bool is_symplectic = true;
  static constexpr bool is_reversible = true;
  void begin(State& s) override;
  void take_over(State& s) override;

 protected:
  ConstrainedMethod(const MechanicalSystem& system, const Constraint& constraint, double h)
      : system_(system, costs_), constraint_(constraint), h_(h) {}
  /// Multipliers for which y - weight M⁻¹ G(x)ᵀ lambda lies on the constraints, by Newton's method
  /// from `lambda`; and f = -M⁻¹ (grad V(x) + G(x)ᵀ lambda).
  /// @param gradient grad V(x)
  void solve_multipliers(const Vector& x, const Vector& gradient, const Vector& y, double weight,
                         State& s);
  /// Multipliers and f of a first step, from `lambda`.
  void start_from(const Vector& gradient, State& s);

  CountedSystem system_;
  const Constraint& constraint_;
  double h_;
};

/// SHAKE, with velocities v_k = (x_{k+1} - x_{k-1}) / 2h and multipliers of second order at t_k.
class Shake : public ConstrainedMethod {
 public:
  Shake(const MechanicalSystem& system, const Constraint& constraint, double h)
      : ConstrainedMethod(system, constraint, h) {}
  void step(State& s) override;
};

/// RATTLE: velocities on the constraints. Its multiplier is that of the next position, of first
/// order at t_k.
class Rattle : public ConstrainedMethod {
 public:
  Rattle(const MechanicalSystem& system, const Constraint& constraint, double h)
      : ConstrainedMethod(system, constraint, h) {}
  void step(State& s) override;
};

/// The midpoint rule on the constrained equations with the multipliers written out,
/// G M⁻¹ Gᵀ lambda = vᵀ Hess g v - G M⁻¹ grad V. It leaves the constraints, MS 6.3:
/// equation (51).
class ConstrainedMidpoint : public Method {
 public:
  static constexpr int order = 2;
  static constexpr bool is_reversible = true;
  /// What the equations are where g is not zero: x'' = -M⁻¹(grad V + Gᵀ lambda), or Hamilton's of
  /// ½ vᵀMv + V + g·lambda(x, v) with the momentum M v, of which the midpoint rule is symplectic.
  enum class Equations { newton, hamilton };
  ConstrainedMidpoint(const MechanicalSystem& system, const Constraint& constraint, double h,
                      Equations equations = Equations::newton)
      : system_(system, costs_), constraint_(constraint), h_(h), equations_(equations) {}
  void begin(State& s) override;
  void take_over(State&) override {}
  void step(State& s) override;

 private:
  /// Counted.
  Vector solve_gram(const Vector& x, const Vector& values);
  /// @param a -M⁻¹ grad V(x)
  Vector multipliers(const Vector& x, const Vector& v, const Vector& a);
  /// x' and v'.
  std::pair<Vector, Vector> rates(const Vector& x, const Vector& v);

  CountedSystem system_;
  const Constraint& constraint_;
  double h_;
  Equations equations_;
};

// --- composition ---------------------------------------------------------------------------------

/// Steps of a symmetric method of order 2, k on either side with γh and one with (1 - 2kγ)h
/// between, γ = 1/(2k - ∛(2k)): order 4, equation (55).
///
/// Energies are taken at x, where the order holds. Newmark's place is another one for each length
/// of steps, and order 2 is all that is left there.
class Composed : public Method {
 public:
  /// Yoshida 1990 with k = 1, and Suzuki 1990 with k = 2, of which no step is longer than h.
  enum class Kind { triple_jump, suzuki };
  static constexpr int order = 4;
  static constexpr bool is_reversible = true;
  /// @param make the method with a step of that length
  Composed(Kind kind, double h, const std::function<std::unique_ptr<Method>(double h)>& make);
  void begin(State& s) override;
  void step(State& s) override;

 private:
  void add_up(std::int64_t steps);

  int steps_a_side_;
  std::unique_ptr<Method> outer_, inner_;
};

}  // namespace tarn::mechanics
