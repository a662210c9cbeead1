#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "tarn/physics/water_model.hpp"

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
  ModeCoordinates(const WaterModel& model, std::span<const double> positions_A, bool rigid);

  int molecules() const { return static_cast<int>(molecules_.size()); }
  int per_molecule() const { return rigid_ ? 6 : 9; }
  int size() const { return per_molecule() * molecules(); }

  /// K = d^2V/dy^2, with V = V0 + V1, or V0 for rigid molecules. For these, the curvature of the
  /// rotations adds a term with the forces.
  /// @param omega 0 for rigid molecules; @param forces_kcal_per_mol_A forces of V0, 9 N
  Eigen::MatrixXd hessian(double omega, std::span<const double> forces_kcal_per_mol_A) const;
  /// dV/dy. @param forces_kcal_per_mol_A total forces, 9 N
  Eigen::VectorXd gradient(std::span<const double> forces_kcal_per_mol_A) const;
  /// Largest component of the gradient: in translations [kcal/mol/A] and rotations [kcal/mol/rad]
  /// of rigid molecules, or in Cartesian coordinates.
  /// @param forces_kcal_per_mol_A total forces, 9 N
  double max_gradient(std::span<const double> forces_kcal_per_mol_A) const;
  /// Three translations and three rotations of the cluster as a whole, orthonormal: size() x 6.
  Eigen::MatrixXd rigid_body_motions() const;
  /// Derivatives of the dipole moment with respect to y [e/Da^1/2]: 3 x size().
  Eigen::MatrixXd dipole_derivatives() const;
  /// Displacements of the atoms for a displacement in y: 9 N.
  Eigen::VectorXd displacements(const Eigen::Ref<const Eigen::VectorXd>& y) const;
  /// The step of coordinate `i` that moves one atom by `distance_A`, and no atom farther.
  double step_of(int i, double distance_A) const;
  /// Writes the positions after a step of coordinate `i` alone. Rotations are not linearised, so
  /// that they do not stretch bonds.
  /// @param positions_A out, 9 N
  void place(int i, double step, std::span<double> positions_A) const;
  /// Sums of squares of the translations, rotations and vibrations in y.
  Eigen::Vector3d kinetic_shares(const Eigen::Ref<const Eigen::VectorXd>& y) const;

 private:
  struct Molecule {
    Eigen::Vector3d centre;            // centre of mass
    Eigen::Matrix3d arms;              // positions of the atoms from the centre, in columns
    Eigen::Matrix3d rotation_vectors;  // of coordinates 3 to 5, in columns
    Eigen::MatrixXd dx;                // derivatives of the atoms: 9 x per_molecule()
  };
  const Molecule& at(int k) const { return molecules_[static_cast<std::size_t>(k)]; }

  WaterModel model_;
  bool rigid_;
  std::vector<double> positions_A_;
  std::vector<Molecule> molecules_;
};

}  // namespace tarn::modes
