#include "tarn/mechanics/diagnostics.hpp"

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

}  // namespace tarn::mechanics
