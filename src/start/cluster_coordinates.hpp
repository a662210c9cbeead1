#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "molecule_frame.hpp"
#include "tarn/force_field.hpp"

/// @file
/// A cluster as a function of unknowns that follow its molecules, for minimise() of lbfgs.hpp. The
/// unknowns are steps from the current point; accept() moves it.

namespace tarn::start {

/// V0 of rigid molecules: six unknowns each, a translation [A] and a rotation about the oxygen
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
    tried_ = frames_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient);
  void accept() { frames_ = tried_; }
  void write(std::span<double> positions_A) const;

 private:
  /// Of the frames tried.
  double evaluate(Eigen::VectorXd& gradient);

  ForceField& force_field_;
  Triangle triangle_;
  std::vector<MoleculeFrame> frames_, tried_;
  std::vector<double> positions_, forces_;
};

/// V0 + V1: nine unknowns a molecule, a translation, a rotation, and the bond values g_c in a unit
/// in which V1 is a sum of squares as stiff as V0, whatever omega is.
class PenalisedCluster {
 public:
  static constexpr int kUnknowns = 9;

  /// @throws InputError if a molecule is collinear or not finite
  PenalisedCluster(ForceField& force_field, double omega, std::span<const double> positions_A);

  int size() const { return kUnknowns * static_cast<int>(molecules_.size()); }
  double first_scale() const;
  double max_gradient(const Eigen::VectorXd& gradient) const;
  /// Largest factor of a step at which no molecule moves by more than 0.1 A or 0.1 rad, and no g_c
  /// by more than 0.1 A^2.
  double step_limit(const Eigen::VectorXd& step) const;
  double energy(Eigen::VectorXd& gradient) {
    tried_ = molecules_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient);
  void accept() { molecules_ = tried_; }
  void write(std::span<double> positions_A) const;

 private:
  struct Molecule {
    MoleculeFrame frame;
    Eigen::Vector3d g;
  };
  /// Of the molecules tried.
  double evaluate(Eigen::VectorXd& gradient);

  ForceField& force_field_;
  double omega_;
  double bond_unit_;  // of g_c [A^2]
  std::vector<Molecule> molecules_, tried_;
  std::vector<Triangle> triangles_;
  std::vector<double> positions_, forces_;
};

/// @throws InputError that names the molecule, counted from 1
[[noreturn]] void throw_degenerate(std::size_t molecule);

}  // namespace tarn::start
