#include "tarn/mechanics/diagnostics.hpp"

#include <array>
#include <cmath>

namespace tarn::mechanics {

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

Matrix derivative(const std::function<Vector(const Vector&)>& map, const Vector& at,
                  double spacing) {
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

double symplectic_defect(const MechanicalSystem& system, Method& method, const Vector& x,
                         const Vector& v, double spacing) {
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

double reversal_error(Method& method, const Vector& x, const Vector& v, std::int64_t steps) {
  State s = advanced(method, x, v, steps);
  s = advanced(method, s.x, -s.v, steps);
  return std::max((s.x - x).lpNorm<Eigen::Infinity>(), (s.v + v).lpNorm<Eigen::Infinity>());
}

}  // namespace tarn::mechanics
