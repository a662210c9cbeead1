#pragma once

#include "dual.hpp"
#include "water_fixtures.hpp"

/// @file
/// Molecules whose bonds are strained, and their coordinates as dual numbers.

namespace tarn::test {

/// A molecule that is bent and stretched by up to 0.1 A.
inline Triple<double> distorted_molecule(const WaterModel& model, Random& random) {
  return random_molecule(model, random, 5.0) + random.triple(0.1);
}

/// The nine coordinates as dual numbers.
template <class D>
Triple<D> variables(const Triple<double>& x) {
  std::array<D, 9> v;
  const std::array<double, 9> a = to_array(x);
  for (int k = 0; k < 9; ++k) v[k] = D::variable(a[k], k);
  return to_triple(v);
}

/// The Hessian of the penalty by duals of duals.
inline Matrix9 penalty_hessian(const Triple<double>& x, const BondReference<double>& r,
                               double omega) {
  using D1 = Dual<long double, 9>;
  using D2 = Dual<D1, 9>;
  std::array<D2, 9> v;
  const std::array<double, 9> a = to_array(x);
  for (int k = 0; k < 9; ++k) v[k] = D2::variable(D1::variable(a[k], k), k);
  const D2 energy = penalty_energy(to_triple(v), r, omega);
  Matrix9 hessian;
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 9; ++k) hessian(i, k) = energy.d[i].d[k];
  }
  return hessian;
}

}  // namespace tarn::test
