#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "tarn/physics/water_model.hpp"

namespace tarn::modes {

/// Coordinates y of a cluster in which the kinetic energy is |dy/dt|^2/2 [A Da^1/2] (equation 59).
/// Of each molecule three translations of the centre of mass, three rotations about the axes of
/// inertia through it and, where it is not rigid, three of its bonds.
class ModeCoordinates {
 public:
  /// @param positions_A 9 N
  /// @throws InputError if a molecule is collinear or not finite
  ModeCoordinates(const WaterModel& model, std::span<const double> positions_A, bool rigid);

  int molecules() const { return static_cast<int>(of_molecule_.size()); }
  int per_molecule() const { return rigid_ ? 6 : 9; }
  int size() const { return per_molecule() * molecules(); }

  /// K = d^2V/dy^2, V0 + V1 or V0 of rigid molecules, whose turning adds what the forces do along
  /// its curvature.
  /// @param omega 0 for rigid molecules; @param forces of V0, 9 N
  Eigen::MatrixXd hessian(double omega, std::span<const double> forces_kcal_per_mol_A) const;
  /// The largest component of the gradient by translations [kcal/mol/A] and rotations
  /// [kcal/mol/rad] of rigid molecules, or by the coordinates of atoms.
  /// @param forces all, 9 N
  double max_gradient(std::span<const double> forces_kcal_per_mol_A) const;
  /// Three translations and three rotations of the cluster as a whole, orthonormal: size() x 6.
  Eigen::MatrixXd whole_motions() const;
  /// Derivatives of the dipole moment by y [e/Da^1/2]: 3 x size().
  Eigen::MatrixXd dipole_derivatives() const;
  /// dx of the atoms for dy: 9 N.
  Eigen::VectorXd displacements(const Eigen::Ref<const Eigen::VectorXd>& y) const;
  /// Squares of the translations, rotations and vibrations in y.
  Eigen::Vector3d shares(const Eigen::Ref<const Eigen::VectorXd>& y) const;

 private:
  struct Molecule {
    Eigen::Vector3d centre;  // of mass
    Eigen::Matrix3d arms;    // of the atoms, from there, in columns
    Eigen::Matrix3d turns;   // rotation vectors of the coordinates 3 .. 5, in columns
    Eigen::MatrixXd dx;      // of the atoms by y: 9 x per_molecule()
  };
  const Molecule& at(int k) const { return of_molecule_[static_cast<std::size_t>(k)]; }

  WaterModel model_;
  bool rigid_;
  std::vector<double> positions_A_;
  std::vector<Molecule> of_molecule_;
};

}  // namespace tarn::modes
