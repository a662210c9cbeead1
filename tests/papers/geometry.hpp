#pragma once

#include "papers/dynamics.hpp"
#include "papers/methods.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

/// @file
/// Geometric properties of methods.

namespace tarn::papers {

/// A method on the penalised system or, if it has constraints, on the soft one.
inline std::unique_ptr<Method> method_of(const Experiment& p, const IntegratorKeys& keys) {
  return make_method(keys, p.equations(is_rigid(keys.scheme)));
}

/// The state after a number of steps from (x, v).
inline State advanced(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  State s{x, v, {}, {}};
  method.begin(s);
  for (std::int64_t k = 0; k < steps; ++k) method.step(s);
  return s;
}

/// Numbers as a deck lists them, those of matrices row by row.
template <class Numbers>
std::vector<double> list_of(const Eigen::DenseBase<Numbers>& numbers) {
  const Matrix columns = numbers.derived().transpose();
  return {columns.data(), columns.data() + columns.size()};
}

/// Two vectors as one.
inline Vector joined(const Vector& a, const Vector& b) {
  Vector both(a.size() + b.size());
  both << a, b;
  return both;
}
/// The state after steps of a method or a system with its integrator.
inline Vector state_after(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  const State s = advanced(method, x, v, steps);
  return joined(s.x, s.v);
}
inline Vector state_after(Dynamics& dynamics, std::int64_t steps) {
  for (std::int64_t k = 0; k < steps; ++k) dynamics.step();
  return joined(dynamics.q, dynamics.v);
}

/// Largest value of a function of the state over a number of steps.
template <class Of>
double largest_in(const Experiment& p, Method& method, int steps, const Of& of) {
  State s = advanced(method, p.position, p.velocity, 0);
  double worst = 0.0;
  for (int k = 0; k < steps; ++k) {
    method.step(s);
    worst = std::max(worst, of(s));
  }
  return worst;
}

/// The order of a method: log2 of the ratio of errors with that many and twice as many steps.
/// @param at the result with a number of steps
template <class At>
double order_of(const At& at, const Vector& exact, int steps) {
  return std::log2((at(steps) - exact).norm() / (at(2 * steps) - exact).norm());
}

/// The form dx ∧ dp, or another with the same blocks.
inline Matrix canonical_form(Index n) {
  Matrix omega = Matrix::Zero(2 * n, 2 * n);
  omega.topRightCorner(n, n).setIdentity();
  omega.bottomLeftCorner(n, n) = -Matrix::Identity(n, n);
  return omega;
}
/// Largest entry of Jᵀ (form after) J - (form before).
inline double form_defect(const Matrix& j, const Matrix& after, const Matrix& before) {
  return (j.transpose() * after * j - before).cwiseAbs().maxCoeff();
}

/// Derivative of a map by central differences of order 12, equation (67). With a spacing of 0.01
/// the error is about 1e-13 for maps that are smooth on a scale of 1.
inline Matrix derivative(const std::function<Vector(const Vector&)>& map, const Vector& at,
                         double spacing = 0.01) {
  constexpr std::array<double, 6> weights{6.0 / 7.0,   -15.0 / 56.0, 5.0 / 63.0,
                                          -1.0 / 56.0, 1.0 / 385.0,  -1.0 / 5544.0};
  Matrix j;
  for (Index c = 0; c < at.size(); ++c) {
    Vector column;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      Vector forward = at, backward = at;
      forward[c] += static_cast<double>(k + 1) * spacing;
      backward[c] -= static_cast<double>(k + 1) * spacing;
      const Vector difference = weights[k] * (map(forward) - map(backward));
      column = k == 0 ? difference : Vector(column + difference);
    }
    if (c == 0) j.resize(column.size(), at.size());
    j.col(c) = column / spacing;
  }
  return j;
}

/// Largest entry of Jᵀ Ω J - Ω of one step, in the variables (x, M v): equation (67).
inline double symplectic_defect(const MechanicalSystem& system, Method& method, const Vector& x,
                                const Vector& v, double spacing = 0.01) {
  const Index n = x.size();
  const auto map = [&](const Vector& xp) {
    const State s = advanced(method, xp.head(n), system.mass_solve(xp.tail(n)), 1);
    return joined(s.x, system.mass_times(s.v));
  };
  const Matrix j = derivative(map, joined(x, system.mass_times(v)), spacing);
  return form_defect(j, canonical_form(n), canonical_form(n));
}

/// Distance from the start after n steps, reversal of the velocities, and n further steps.
inline double reversal_error(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  State s = advanced(method, x, v, steps);
  s = advanced(method, s.x, -s.v, steps);
  return std::max((s.x - x).lpNorm<Eigen::Infinity>(), (s.v + v).lpNorm<Eigen::Infinity>());
}

}  // namespace tarn::papers
