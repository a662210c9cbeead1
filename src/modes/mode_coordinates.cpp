#include "mode_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Geometry>
#include <fmt/format.h>

#include "core/dense.hpp"
#include "cpu/dense_solve.hpp"
#include "tarn/core/error.hpp"

namespace tarn::modes {
namespace {

using Eigen::Index;
using Eigen::Map;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Columns are the atoms O, H1, H2.
Map<const Matrix3d> atoms(std::span<const double> numbers, int k) {
  return Map<const Matrix3d>(&numbers[9 * static_cast<std::size_t>(k)]);
}
Vector3d masses(const WaterModel& model) {
  return {model.mass_o_Da, model.mass_h_Da, model.mass_h_Da};
}

}  // namespace

ModeCoordinates::ModeCoordinates(const WaterModel& model, std::span<const double> positions_A,
                                 bool rigid)
    : model_(model), rigid_(rigid), positions_A_(positions_A.begin(), positions_A.end()) {
  const Vector3d m = masses(model);
  const Vector3d root_m = m.cwiseSqrt();
  for (int k = 0; k < static_cast<int>(positions_A.size() / 9); ++k) {
    Molecule& molecule = molecules_.emplace_back();
    molecule.centre = atoms(positions_A, k) * m / m.sum();
    molecule.arms = atoms(positions_A, k).colwise() - molecule.centre;
    const dense::Spectrum3 axes = dense::symmetric_spectrum(moment_of_inertia(molecule.arms, m));
    // Also true for numbers that are not finite.
    if (!(axes.values[0] > 1e-6 * axes.values[2])) {
      throw InputError(
          fmt::format("molecule {} is collinear, or its coordinates are not finite "
                      "numbers; correct its coordinates",
                      k));
    }
    molecule.rotation_vectors = axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal();
    // Mass-weighted, orthonormal columns: translations, then rotations.
    MatrixXd whole(9, 6);
    for (int c = 0; c < 3; ++c) {
      for (int a = 0; a < 3; ++a) {
        whole.col(c).segment<3>(3 * a) = root_m[a] / std::sqrt(m.sum()) * Vector3d::Unit(c);
        whole.col(3 + c).segment<3>(3 * a) =
            root_m[a] *
            Vector3d(molecule.rotation_vectors.col(c)).cross(Vector3d(molecule.arms.col(a)));
      }
    }
    molecule.dx = whole;
    if (!rigid) {
      // Bond coordinates: any vectors orthogonal to the translations and rotations.
      molecule.dx = dense::orthogonal_matrix(whole);
      molecule.dx.leftCols(6) = whole;
    }
    for (int a = 0; a < 3; ++a) molecule.dx.middleRows(3 * a, 3) /= root_m[a];
  }
}

MatrixXd ModeCoordinates::hessian(double omega,
                                  std::span<const double> forces_kcal_per_mol_A) const {
  const int n = per_molecule();
  MatrixXd hessian(size(), size());
  cpu::for_each_hessian_block(model_, omega, positions_A_,
                              [&](int k, int l, const MatrixXd& block) {
                                const MatrixXd own = dense::congruence(at(k).dx, block, at(l).dx);
                                hessian.block(n * k, n * l, n, n) = own;
                                hessian.block(n * l, n * k, n, n) = own.transpose();
                              });
  if (!rigid_) return hessian;
  for (int k = 0; k < molecules(); ++k) {
    // -f . (w x (w x d)) / 2 for each atom, written as w^T C w / 2.
    const Matrix3d f = atoms(forces_kcal_per_mol_A, k), &d = at(k).arms;
    const Matrix3d fd = f * d.transpose();
    const Matrix3d curvature = fd.trace() * Matrix3d::Identity() - 0.5 * (fd + fd.transpose());
    hessian.block<3, 3>(n * k + 3, n * k + 3) +=
        at(k).rotation_vectors.transpose() * curvature * at(k).rotation_vectors;
  }
  return hessian;
}

double ModeCoordinates::max_gradient(std::span<const double> forces_kcal_per_mol_A) const {
  double largest = 0.0;
  for (int k = 0; k < molecules(); ++k) {
    const Matrix3d f = atoms(forces_kcal_per_mol_A, k);
    if (rigid_) {
      Vector3d torque = Vector3d::Zero();
      for (int a = 0; a < 3; ++a) torque += at(k).arms.col(a).cross(f.col(a));
      largest = std::max(
          {largest, f.rowwise().sum().lpNorm<Eigen::Infinity>(), torque.lpNorm<Eigen::Infinity>()});
    } else {
      largest = std::max(largest, f.cwiseAbs().maxCoeff());
    }
  }
  return largest;
}

MatrixXd ModeCoordinates::rigid_body_motions() const {
  const double mass = model_.molecule_mass_Da();
  Vector3d centre = Vector3d::Zero();
  for (const Molecule& molecule : molecules_) centre += molecule.centre / molecules();
  // For each molecule, translations and rotations of the cluster about its centre, by axis.
  MatrixXd motions = MatrixXd::Zero(size(), 6);
  for (int k = 0; k < molecules(); ++k) {
    auto own = motions.middleRows(per_molecule() * k, 6);
    own.topLeftCorner<3, 3>() = std::sqrt(mass) * Matrix3d::Identity();
    for (int c = 0; c < 3; ++c) {
      own.col(3 + c).head<3>() = std::sqrt(mass) * Vector3d::Unit(c).cross(at(k).centre - centre);
    }
    // The rotation vector of each molecule is that of the cluster: rotation_vectors times the
    // coordinates.
    own.bottomRightCorner<3, 3>() = dense::inverse(at(k).rotation_vectors);
  }
  motions.leftCols<3>() /= std::sqrt(mass * molecules());
  dense::orthonormalise(motions.rightCols<3>());
  return motions;
}

MatrixXd ModeCoordinates::dipole_derivatives() const {
  // Equation 28: charge c at each hydrogen and -2 c at the oxygen.
  const double c = model_.dipole_charge_e();
  MatrixXd derivatives(3, size());
  for (int k = 0; k < molecules(); ++k) {
    const MatrixXd& own = at(k).dx;
    auto of_molecule = derivatives.middleCols(per_molecule() * k, per_molecule());
    of_molecule = c * (own.middleRows(3, 3) + own.middleRows(6, 3) - 2.0 * own.topRows(3));
    of_molecule.leftCols(3).setZero();  // exactly zero, because the molecule has no net charge
  }
  return derivatives;
}

VectorXd ModeCoordinates::gradient(std::span<const double> forces_kcal_per_mol_A) const {
  VectorXd gradient(size());
  for (int k = 0; k < molecules(); ++k) {
    const VectorXd f = Map<const VectorXd>(atoms(forces_kcal_per_mol_A, k).data(), 9);
    gradient.segment(per_molecule() * k, per_molecule()) = dense::transposed_product(at(k).dx, -f);
  }
  return gradient;
}

double ModeCoordinates::step_of(int i, double distance_A) const {
  const VectorXd dx = at(i / per_molecule()).dx.col(i % per_molecule());
  return distance_A / Map<const Matrix3d>(dx.data()).colwise().norm().maxCoeff();
}

void ModeCoordinates::place(int i, double step, std::span<double> positions_A) const {
  std::ranges::copy(positions_A_, positions_A.begin());
  const int k = i / per_molecule(), c = i % per_molecule();
  const Molecule& molecule = at(k);
  Map<Matrix3d> moved(&positions_A[9 * static_cast<std::size_t>(k)]);
  if (c / 3 == 1) {
    const Vector3d turn = step * molecule.rotation_vectors.col(c - 3);
    const Eigen::AngleAxisd rotation(turn.norm(), turn.normalized());
    moved = (rotation.toRotationMatrix() * molecule.arms).colwise() + molecule.centre;
  } else {
    const VectorXd dx = step * molecule.dx.col(c);
    moved += Map<const Matrix3d>(dx.data());
  }
}

VectorXd ModeCoordinates::displacements(const Eigen::Ref<const VectorXd>& y) const {
  VectorXd x(9 * molecules());
  for (int k = 0; k < molecules(); ++k) {
    x.segment<9>(9 * k) = dense::product(at(k).dx, y.segment(per_molecule() * k, per_molecule()));
  }
  return x;
}

Vector3d ModeCoordinates::kinetic_shares(const Eigen::Ref<const VectorXd>& y) const {
  Vector3d sums = Vector3d::Zero();
  for (Index i = 0; i < y.size(); ++i) sums[i % per_molecule() / 3] += y[i] * y[i];
  return sums;
}

}  // namespace tarn::modes
