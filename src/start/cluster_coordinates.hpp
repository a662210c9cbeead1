#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "molecule_frame.hpp"
#include "tarn/force_field.hpp"

/// @file
/// The energy of a cluster as a function of molecular coordinates, for minimise() of lbfgs.hpp. The
/// unknowns are steps from the current point; accept() makes the last step the current point.

namespace tarn::start {

/// V0 of rigid molecules, with six unknowns each: a translation [A] and a rotation about the oxygen
/// [rad].
class RigidCluster {
 public:
  static constexpr int kUnknowns = 6;

  /// @throws InputError if a molecule is collinear or not finite
  RigidCluster(ForceField& force_field, std::span<const double> positions_A);

  int size() const { return kUnknowns * static_cast<int>(frames_.size()); }
  double first_scale() const;
  double max_gradient(const Eigen::VectorXd& gradient) const;
  /// Largest factor of a step at which no molecule moves by more than 0.3 A or 0.3 rad.
  double step_limit(const Eigen::VectorXd& step) const;
  double energy(Eigen::VectorXd& gradient) {
    trial_ = frames_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient);
  void accept() { frames_ = trial_; }
  void write(std::span<double> positions_A) const;

 private:
  /// Energy and gradient at the trial frames.
  double evaluate(Eigen::VectorXd& gradient);

  ForceField& force_field_;
  Triangle triangle_;
  std::vector<MoleculeFrame> frames_, trial_;
  std::vector<double> positions_, forces_;
};

/// V0 + V1, with a penalty or the intramolecular energy of a flexible model, or a potential: nine
/// unknowns per molecule, namely a translation, a rotation, and the bond values g_c. The unit of
/// g_c makes V1 about as stiff as V0.
class DeformableCluster {
 public:
  static constexpr int kUnknowns = 9;

  /// @param omega of the penalty; 0 for flexible models and potentials
  /// @throws InputError if a molecule is collinear or not finite
  DeformableCluster(ForceField& force_field, double omega, std::span<const double> positions_A);

  int size() const { return kUnknowns * static_cast<int>(molecules_.size()); }
  double first_scale() const;
  double max_gradient(const Eigen::VectorXd& gradient) const;
  /// Largest factor of a step at which no molecule moves by more than 0.1 A or 0.1 rad, and no g_c
  /// by more than 0.1 A^2.
  double step_limit(const Eigen::VectorXd& step) const;
  double energy(Eigen::VectorXd& gradient) {
    trial_ = molecules_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient);
  void accept() { molecules_ = trial_; }
  void write(std::span<double> positions_A) const;

 private:
  struct Molecule {
    MoleculeFrame frame;
    Eigen::Vector3d g;
  };
  /// Energy and gradient at the trial molecules.
  double evaluate(Eigen::VectorXd& gradient);

  ForceField& force_field_;
  double omega_;
  double bond_unit_;  // of g_c [A^2]
  std::vector<Molecule> molecules_, trial_;
  std::vector<Triangle> triangles_;
  std::vector<double> positions_, forces_;
};

/// @throws InputError that names the molecule
[[noreturn]] void throw_degenerate(std::size_t molecule);

}  // namespace tarn::start
