#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <fmt/format.h>

#include "core/dense.hpp"
#include "cpu/dense_solve.hpp"
#include "tarn/core/error.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn::modes {

/// Moment of inertia of point masses about the origin. @param arms positions in columns
inline Eigen::Matrix3d moment_of_inertia(const Eigen::Ref<const Eigen::Matrix3Xd>& arms,
                                         const Eigen::Ref<const Eigen::VectorXd>& masses) {
  Eigen::Matrix3d sum = Eigen::Matrix3d::Zero();
  for (Eigen::Index a = 0; a < arms.cols(); ++a) {
    const Eigen::Vector3d d = arms.col(a);
    sum += masses[a] * (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
  }
  return sum;
}

/// Coordinates y of a cluster in which the kinetic energy is |dy/dt|^2/2 [A Da^1/2] (equation 59):
/// for each molecule, three translations of the centre of mass, three rotations about the axes of
/// inertia through it and, if it is not rigid, three bond coordinates.
class ModeCoordinates {
 public:
  /// @param positions_A 9 N
  /// @throws InputError if a molecule is collinear or not finite
  ModeCoordinates(const WaterModel& model, const ClusterMasses& masses,
                  std::span<const double> positions_A, bool rigid)
      : model_(model),
        rigid_(rigid),
        mass_Da_(masses.cluster_Da(positions_A.size() / 9)),
        positions_A_(positions_A.begin(), positions_A.end()) {
    for (int k = 0; k < static_cast<int>(positions_A.size() / 9); ++k) {
      Molecule& molecule = molecules_.emplace_back();
      Eigen::Vector3d m;
      for (std::size_t a = 0; a < 3; ++a) {
        m[static_cast<Eigen::Index>(a)] = masses.atom_Da(static_cast<std::size_t>(k), a);
      }
      molecule.mass_Da = masses.molecule_Da(static_cast<std::size_t>(k));
      const Eigen::Vector3d root_m = m.cwiseSqrt();
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
      molecule.rotation_vectors =
          axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal();
      // Mass-weighted, orthonormal columns: translations, then rotations.
      Eigen::MatrixXd whole(9, 6);
      for (int c = 0; c < 3; ++c) {
        for (int a = 0; a < 3; ++a) {
          whole.col(c).segment<3>(3 * a) =
              root_m[a] / std::sqrt(m.sum()) * Eigen::Vector3d::Unit(c);
          whole.col(3 + c).segment<3>(3 * a) =
              root_m[a] * Eigen::Vector3d(molecule.rotation_vectors.col(c))
                              .cross(Eigen::Vector3d(molecule.arms.col(a)));
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

  int molecules() const { return static_cast<int>(molecules_.size()); }
  int per_molecule() const { return rigid_ ? 6 : 9; }
  int size() const { return per_molecule() * molecules(); }

  /// K = d^2V/dy^2, with V = V0 + V1, or V0 for rigid molecules. For these, the curvature of the
  /// rotations adds a term with the forces.
  /// @param omega 0 for rigid molecules; @param forces_kcal_per_mol_A forces of V0, 9 N
  Eigen::MatrixXd hessian(double omega, std::span<const double> forces_kcal_per_mol_A) const {
    const int n = per_molecule();
    Eigen::MatrixXd hessian(size(), size());
    cpu::for_each_hessian_block(
        model_, omega, positions_A_, [&](int k, int l, const Eigen::MatrixXd& block) {
          const Eigen::MatrixXd own = dense::congruence(at(k).dx, block, at(l).dx);
          hessian.block(n * k, n * l, n, n) = own;
          hessian.block(n * l, n * k, n, n) = own.transpose();
        });
    add_rotation_curvature(forces_kcal_per_mol_A, hessian);
    return hessian;
  }
  /// For rigid molecules, the term of K with the forces.
  void add_rotation_curvature(std::span<const double> forces_kcal_per_mol_A,
                              Eigen::MatrixXd& hessian) const {
    const int n = per_molecule();
    for (int k = 0; rigid_ && k < molecules(); ++k) {
      // -f . (w x (w x d)) / 2 for each atom, written as w^T C w / 2.
      const Eigen::Matrix3d f = atoms(forces_kcal_per_mol_A, k), &d = at(k).arms;
      const Eigen::Matrix3d fd = f * d.transpose();
      const Eigen::Matrix3d curvature =
          fd.trace() * Eigen::Matrix3d::Identity() - 0.5 * (fd + fd.transpose());
      hessian.block<3, 3>(n * k + 3, n * k + 3) +=
          at(k).rotation_vectors.transpose() * curvature * at(k).rotation_vectors;
    }
  }
  /// dV/dy. @param forces_kcal_per_mol_A total forces, 9 N
  Eigen::VectorXd gradient(std::span<const double> forces_kcal_per_mol_A) const {
    Eigen::VectorXd gradient(size());
    for (int k = 0; k < molecules(); ++k) {
      const Eigen::VectorXd f =
          Eigen::Map<const Eigen::VectorXd>(atoms(forces_kcal_per_mol_A, k).data(), 9);
      gradient.segment(per_molecule() * k, per_molecule()) =
          dense::transposed_product(at(k).dx, -f);
    }
    return gradient;
  }
  /// Largest component of the gradient: in translations [kcal/mol/A] and rotations [kcal/mol/rad]
  /// of rigid molecules, or in Cartesian coordinates.
  /// @param forces_kcal_per_mol_A total forces, 9 N
  double max_gradient(std::span<const double> forces_kcal_per_mol_A) const {
    double largest = 0.0;
    for (int k = 0; k < molecules(); ++k) {
      const Eigen::Matrix3d f = atoms(forces_kcal_per_mol_A, k);
      if (rigid_) {
        Eigen::Vector3d torque = Eigen::Vector3d::Zero();
        for (int a = 0; a < 3; ++a) torque += at(k).arms.col(a).cross(f.col(a));
        largest = std::max({largest, f.rowwise().sum().lpNorm<Eigen::Infinity>(),
                            torque.lpNorm<Eigen::Infinity>()});
      } else {
        largest = std::max(largest, f.cwiseAbs().maxCoeff());
      }
    }
    return largest;
  }
  /// Three translations and three rotations of the cluster as a whole, orthonormal: size() x 6.
  Eigen::MatrixXd rigid_body_motions() const {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    for (const Molecule& m : molecules_) centre += m.centre / (mass_Da_ / m.mass_Da);
    // For each molecule, translations and rotations of the cluster about its centre, by axis.
    Eigen::MatrixXd motions = Eigen::MatrixXd::Zero(size(), 6);
    for (int k = 0; k < molecules(); ++k) {
      auto own = motions.middleRows(per_molecule() * k, 6);
      const double root = std::sqrt(at(k).mass_Da);
      own.topLeftCorner<3, 3>() = root * Eigen::Matrix3d::Identity();
      for (int c = 0; c < 3; ++c) {
        own.col(3 + c).head<3>() = root * Eigen::Vector3d::Unit(c).cross(at(k).centre - centre);
      }
      // The rotation vector of each molecule is that of the cluster: rotation_vectors times the
      // coordinates.
      own.bottomRightCorner<3, 3>() = dense::inverse(at(k).rotation_vectors);
    }
    motions.leftCols<3>() /= std::sqrt(mass_Da_);
    if (model_.has_field()) {  // rotations about its direction remain
      const Eigen::Vector3d field(model_.field_kcal_per_mol_e_A.data());
      motions.col(3) = (motions.rightCols<3>() * field).normalized();
      motions.conservativeResize(Eigen::NoChange, 4);
      return motions;
    }
    dense::orthonormalise(motions.rightCols<3>());
    return motions;
  }
  /// Derivatives of the dipole moment with respect to y [e/Da^1/2]: 3 x size().
  Eigen::MatrixXd dipole_derivatives() const {
    // Equation 28: charge c at each hydrogen and -2 c at the oxygen.
    const double c = model_.dipole_charge_e();
    Eigen::MatrixXd derivatives(3, size());
    for (int k = 0; k < molecules(); ++k) {
      const Eigen::MatrixXd& own = at(k).dx;
      auto of_molecule = derivatives.middleCols(per_molecule() * k, per_molecule());
      of_molecule = c * (own.middleRows(3, 3) + own.middleRows(6, 3) - 2.0 * own.topRows(3));
      of_molecule.leftCols(3).setZero();  // exactly zero, because the molecule has no net charge
    }
    return derivatives;
  }
  /// Displacements of the atoms for a displacement in y: 9 N.
  Eigen::VectorXd displacements(const Eigen::Ref<const Eigen::VectorXd>& y) const {
    Eigen::VectorXd x(9 * molecules());
    for (int k = 0; k < molecules(); ++k) {
      x.segment<9>(9 * k) = dense::product(at(k).dx, y.segment(per_molecule() * k, per_molecule()));
    }
    return x;
  }
  /// The step of coordinate `i` that moves one atom by `distance_A`, and no atom farther.
  double step_of(int i, double distance_A) const {
    const Eigen::VectorXd dx = at(i / per_molecule()).dx.col(i % per_molecule());
    return distance_A / Eigen::Map<const Eigen::Matrix3d>(dx.data()).colwise().norm().maxCoeff();
  }
  /// Writes the positions after a step of coordinate `i` alone. Rotations are not linearised, so
  /// that they do not stretch bonds.
  /// @param positions_A out, 9 N
  void place(int i, double step, std::span<double> positions_A) const {
    std::ranges::copy(positions_A_, positions_A.begin());
    const int k = i / per_molecule(), c = i % per_molecule();
    const Molecule& molecule = at(k);
    Eigen::Map<Eigen::Matrix3d> moved(&positions_A[9 * static_cast<std::size_t>(k)]);
    if (c / 3 == 1) {
      const Eigen::Vector3d turn = step * molecule.rotation_vectors.col(c - 3);
      const Eigen::AngleAxisd rotation(turn.norm(), turn.normalized());
      moved = (rotation.toRotationMatrix() * molecule.arms).colwise() + molecule.centre;
    } else {
      const Eigen::VectorXd dx = step * molecule.dx.col(c);
      moved += Eigen::Map<const Eigen::Matrix3d>(dx.data());
    }
  }
  /// Sums of squares of the translations, rotations and vibrations in y.
  Eigen::Vector3d kinetic_shares(const Eigen::Ref<const Eigen::VectorXd>& y) const {
    Eigen::Vector3d sums = Eigen::Vector3d::Zero();
    for (Eigen::Index i = 0; i < y.size(); ++i) sums[i % per_molecule() / 3] += y[i] * y[i];
    return sums;
  }

 private:
  /// Columns are the atoms O, H1, H2.
  static Eigen::Map<const Eigen::Matrix3d> atoms(std::span<const double> numbers, int k) {
    return Eigen::Map<const Eigen::Matrix3d>(&numbers[9 * static_cast<std::size_t>(k)]);
  }

  struct Molecule {
    double mass_Da;
    Eigen::Vector3d centre;            // centre of mass
    Eigen::Matrix3d arms;              // positions of the atoms from the centre, in columns
    Eigen::Matrix3d rotation_vectors;  // of coordinates 3 to 5, in columns
    Eigen::MatrixXd dx;                // derivatives of the atoms: 9 x per_molecule()
  };
  const Molecule& at(int k) const { return molecules_[static_cast<std::size_t>(k)]; }

  WaterModel model_;
  bool rigid_;
  double mass_Da_;  ///< of the cluster
  std::vector<double> positions_A_;
  std::vector<Molecule> molecules_;
};

}  // namespace tarn::modes
