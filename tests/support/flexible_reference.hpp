#pragma once

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Geometry>

#include "dense.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// The intramolecular potential of one molecule in long double, by its definition: without the
/// formulas of tarn/physics.

namespace tarn::test {

struct FlexibleReference {
  using Vector3 = Eigen::Matrix<Real, 3, 1>;
  using Vector9 = Eigen::Matrix<Real, 9, 1>;
  using Jacobian = Eigen::Matrix<Real, 3, 9>;

  Real energy = 0;
  Vector3 first, second;  ///< derivatives by r1, r2 and theta
  Jacobian jacobian;      ///< of r1, r2 and theta

  FlexibleReference(const WaterModel& model, const Vector9& x) {
    const IntramolecularModel& bonds = model.intramolecular;
    const Vector3 d1 = x.segment<3>(3) - x.segment<3>(0), d2 = x.segment<3>(6) - x.segment<3>(0);
    const Real r1 = d1.norm(), r2 = d2.norm();
    const Real cosine = d1.dot(d2) / (r1 * r2), theta = std::acos(cosine);
    const Real pi = std::acos(Real(-1));
    const Real bend = theta - model.angle_hoh_degrees * pi / 180;
    energy = Real(bonds.bend_stiffness_kcal_per_mol_rad2) * bend * bend / 2;
    first[2] = bonds.bend_stiffness_kcal_per_mol_rad2 * bend;
    second[2] = bonds.bend_stiffness_kcal_per_mol_rad2;
    add_stretch(model, r1, 0);
    add_stretch(model, r2, 1);
    // d theta = -d(cos theta)/sin theta, cos theta = d1.d2/(r1 r2).
    const Real sine = std::sqrt(1 - cosine * cosine);
    const Vector3 g1 = -(d2 / (r1 * r2) - cosine * d1 / (r1 * r1)) / sine;
    const Vector3 g2 = -(d1 / (r1 * r2) - cosine * d2 / (r2 * r2)) / sine;
    jacobian.setZero();
    jacobian.block<1, 3>(0, 3) = d1.transpose() / r1;
    jacobian.block<1, 3>(1, 6) = d2.transpose() / r2;
    jacobian.block<1, 3>(2, 3) = g1.transpose();
    jacobian.block<1, 3>(2, 6) = g2.transpose();
    jacobian.leftCols<3>() = -(jacobian.middleCols<3>(3) + jacobian.rightCols<3>());
  }

  Vector9 force() const { return -jacobian.transpose() * first; }

  /// The solution a of (M + b h^2 J^T K J) a = F0 + F, with K = V'' and, for Morse bonds, at least
  /// V'' where V is a tenth of the depth.
  Vector9 acceleration(const WaterModel& model, const Vector9& mass, Real bh2,
                       const Vector9& f0) const {
    Vector3 k = second;
    if (model.intramolecular.stretch == Stretch::morse) {
      const Real alpha = model.intramolecular.alpha_per_A, root = std::sqrt(Real(0.1L));
      const Real s = -std::log(1 - root) / alpha, e = std::exp(-alpha * s);
      const Real least =
          2 * Real(model.intramolecular.depth_kcal_per_mol) * alpha * alpha * (2 * e * e - e);
      k[0] = std::max(k[0], least);
      k[1] = std::max(k[1], least);
    }
    const Eigen::Matrix<Real, 9, 9> matrix = Eigen::Matrix<Real, 9, 9>(mass.asDiagonal()) +
                                             bh2 * jacobian.transpose() * k.asDiagonal() * jacobian;
    return matrix.llt().solve(f0 + force());
  }

 private:
  void add_stretch(const WaterModel& model, Real r, int i) {
    const IntramolecularModel& bonds = model.intramolecular;
    const Real s = r - model.r_oh_A, d = bonds.depth_kcal_per_mol, alpha = bonds.alpha_per_A;
    const Real as = alpha * s;
    if (bonds.stretch == Stretch::harmonic) {
      const Real k = bonds.stretch_stiffness_kcal_per_mol_A2;
      energy += k * s * s / 2;
      first[i] = k * s;
      second[i] = k;
    } else if (bonds.stretch == Stretch::quartic) {
      energy += d * (as * as - as * as * as + 7 * as * as * as * as / 12);
      first[i] = d * alpha * (2 * as - 3 * as * as + 7 * as * as * as / 3);
      second[i] = d * alpha * alpha * (2 - 6 * as + 7 * as * as);
    } else {
      const Real e = std::exp(-as);
      energy += d * (1 - e) * (1 - e);
      first[i] = 2 * d * alpha * e * (1 - e);
      second[i] = 2 * d * alpha * alpha * e * (2 * e - 1);
    }
  }
};

}  // namespace tarn::test
