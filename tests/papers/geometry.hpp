#pragma once

#include "papers/methods.hpp"
#include "testing.hpp"

/// @file
/// Geometric properties of methods.

namespace tarn::papers {

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
  Vector start(2 * n);
  start << x, system.mass_times(v);
  const auto map = [&](const Vector& xp) {
    const State s = advanced(method, xp.head(n), system.mass_solve(xp.tail(n)), 1);
    Vector end(2 * n);
    end << s.x, system.mass_times(s.v);
    return end;
  };
  const Matrix j = derivative(map, start, spacing);
  Matrix omega = Matrix::Zero(2 * n, 2 * n);
  omega.topRightCorner(n, n).setIdentity();
  omega.bottomLeftCorner(n, n) = -Matrix::Identity(n, n);
  return (j.transpose() * omega * j - omega).cwiseAbs().maxCoeff();
}

/// Distance from the start after n steps, reversal of the velocities, and n further steps.
inline double reversal_error(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  State s = advanced(method, x, v, steps);
  s = advanced(method, s.x, -s.v, steps);
  return std::max((s.x - x).lpNorm<Eigen::Infinity>(), (s.v + v).lpNorm<Eigen::Infinity>());
}

}  // namespace tarn::papers
