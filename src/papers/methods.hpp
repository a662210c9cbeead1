#pragma once

#include <memory>
#include <vector>

#include "systems.hpp"

/// @file
/// One-step methods for M q'' = -grad V(q), with or without constraints, and their conserved
/// quantities. Equations are those of docs/equations.md; `h` is the time step.

namespace tarn::papers {

/// The state of a method; from it the method continues bit for bit.
struct State {
  Vector x, v;
  Vector f = {};       ///< the scheme's acceleration at x
  Vector lambda = {};  ///< multipliers at x, M q'' = -grad V - Gᵀ lambda; empty without constraints
};

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
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
  virtual EnergyPlace energy_place(const State& s) const { return {s.x}; }
  const Costs& costs() const { return costs_; }

 protected:
  virtual void advance(State& s) = 0;
  Costs costs_;
};

/// The method of `keys.scheme`, composed as `keys.compose` says.
std::unique_ptr<Method> make_method(const IntegratorKeys& keys, const Equations& equations);

/// The multipliers for g'' = 0: (G M⁻¹ Gᵀ) λ = vᵀ Hess g v + G a.
/// @param a accelerations without constraints
Vector multipliers_at(const Constraint& constraint, const Vector& masses, const Vector& x,
                      const Vector& v, const Vector& a);

/// One iterate of the projection onto the slow manifold.
struct SlowIterate {
  Vector x, v;
  Vector g, g_rate;
};

/// The iterative projection algorithm IPA onto the slow manifold of a stiff penalty, AST 3.2 and
/// 5.2, equation (48). Each iteration integrates to both sides with 18 Verlet steps of (2π/omega)/6
/// and averages with a cubic kernel.
/// @param tolerance change of g and its rate at which the projection stops
/// @param costs the evaluations and iterations are added to it
/// @return the iterates, from the input to the slow point
/// @throws NumericalError if they do not settle
std::vector<SlowIterate> project_onto_slow(const Equations& equations, double tolerance,
                                           const Vector& x, const Vector& v, Costs& costs);

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
