#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>

#include "molecule_frame.hpp"
#include "physics/flexible.hpp"
#include "tarn/core/error.hpp"
#include "tarn/force_field.hpp"

/// @file
/// The energy of a cluster as a function of molecular coordinates, for minimise() of minimise.cpp.
/// The unknowns are steps from the current point; accept() makes the last step the current point.

namespace tarn::start {

/// A typical second derivative of V0 for a translation [kcal/mol/A^2] or a libration
/// [kcal/mol/rad^2] of a hydrogen-bonded molecule; the two are similar with angles in radians.
inline constexpr double kStiffness = 60.0;

/// Second derivative of the energy of a real O-H bond by its length [kcal/mol/A^2].
inline constexpr double kRealBondStiffness = 1200.0;

/// Second derivative of V1 for g_c [kcal/mol/A^4]; g changes by 2 r per change of a bond length r.
inline double bond_stiffness(const ForceField& force_field, double omega) {
  const WaterModel& model = force_field.model();
  if (!force_field.is_flexible()) return omega * omega;
  const double stretch = model.is_flexible()
                             ? stretch_potential(model.r_oh_A, flexible_parameters(model)).second
                             : kRealBondStiffness;
  return stretch / (4.0 * model.r_oh_A * model.r_oh_A);
}

/// Largest translation or rotation in a step with `stride` unknowns per molecule.
inline double longest_move(const Eigen::VectorXd& step, int stride) {
  double longest = 1e-300;
  for (Eigen::Index i = 0; i < step.size(); i += stride) {
    longest = std::max({longest, step.segment<3>(i).norm(), step.segment<3>(i + 3).norm()});
  }
  return longest;
}

/// dV/d(translation, rotation) of molecule m from the forces on its atoms.
inline void rigid_gradient(std::size_t m, const std::vector<double>& positions,
                           const std::vector<double>& forces, double* gradient) {
  const Eigen::Map<const Eigen::Matrix3d> x(&positions[9 * m]), f(&forces[9 * m]);
  Eigen::Map<Eigen::Vector3d>{gradient} = -(f.col(0) + f.col(1) + f.col(2));
  Eigen::Map<Eigen::Vector3d>{gradient + 3} =
      f.col(1).cross(x.col(1) - x.col(0)) + f.col(2).cross(x.col(2) - x.col(0));
}

/// @throws InputError that names the molecule
[[noreturn]] inline void throw_degenerate(std::size_t molecule) {
  throw InputError(
      fmt::format("the atoms of molecule {} are collinear or have coordinates that "
                  "are not finite numbers; correct its coordinates",
                  molecule));
}

/// V0 of rigid molecules, with six unknowns each: a translation [A] and a rotation about the oxygen
/// [rad].
class RigidCluster {
 public:
  static constexpr int kUnknowns = 6;

  /// @throws InputError if a molecule is collinear or not finite
  RigidCluster(ForceField& force_field, std::span<const double> positions_A)
      : force_field_(force_field),
        triangle_(force_field.model()),
        frames_(positions_A.size() / 9),
        trial_(frames_.size()),
        positions_(positions_A.size()),
        forces_(positions_A.size()) {
    for (std::size_t m = 0; m < frames_.size(); ++m) {
      if (!MoleculeFrame::nearest_rigid(force_field.model(), &positions_A[9 * m], frames_[m])) {
        throw_degenerate(m);
      }
    }
  }

  int size() const { return kUnknowns * static_cast<int>(frames_.size()); }
  double first_scale() const { return 1.0 / kStiffness; }
  double max_gradient(const Eigen::VectorXd& gradient) const {
    return gradient.lpNorm<Eigen::Infinity>();
  }
  /// Largest factor of a step at which no molecule moves by more than 0.3 A or 0.3 rad.
  double step_limit(const Eigen::VectorXd& step) const {
    return 0.3 / longest_move(step, kUnknowns);
  }
  double energy(Eigen::VectorXd& gradient) {
    trial_ = frames_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient) {
    for (std::size_t m = 0; m < frames_.size(); ++m) {
      const Eigen::Index i = static_cast<Eigen::Index>(m) * kUnknowns;
      trial_[m] = frames_[m].moved(step.segment<3>(i), step.segment<3>(i + 3));
    }
    return evaluate(gradient);
  }
  void accept() { frames_ = trial_; }
  void write(std::span<double> positions_A) const {
    for (std::size_t m = 0; m < frames_.size(); ++m) {
      frames_[m].place(triangle_, &positions_A[9 * m]);
    }
  }

 private:
  /// Energy and gradient at the trial frames.
  double evaluate(Eigen::VectorXd& gradient) {
    for (std::size_t m = 0; m < trial_.size(); ++m) trial_[m].place(triangle_, &positions_[9 * m]);
    const double v = force_field_.energy_and_forces(positions_, forces_).total_kcal_per_mol();
    for (std::size_t m = 0; m < trial_.size(); ++m) {
      rigid_gradient(m, positions_, forces_, &gradient[static_cast<Eigen::Index>(m) * kUnknowns]);
    }
    return v;
  }

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
  DeformableCluster(ForceField& force_field, double omega, std::span<const double> positions_A)
      : force_field_(force_field),
        omega_(omega),
        bond_unit_(std::sqrt(kStiffness / bond_stiffness(force_field, omega))),
        molecules_(positions_A.size() / 9),
        trial_(molecules_.size()),
        triangles_(molecules_.size(), Triangle(force_field.model())),
        positions_(positions_A.size()),
        forces_(positions_A.size()) {
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      if (!MoleculeFrame::of_atoms(force_field.model(), &positions_A[9 * m], molecules_[m].frame,
                                   molecules_[m].g)) {
        throw_degenerate(m);
      }
    }
  }

  int size() const { return kUnknowns * static_cast<int>(molecules_.size()); }
  double first_scale() const { return 1.0 / kStiffness; }
  double max_gradient(const Eigen::VectorXd& gradient) const {
    // A force along bond c is dV/dg_c times the gradient of g_c, 2 d_c at each end.
    const double per_bond_unit = 2.0 * force_field_.model().r_hh_A() / bond_unit_;
    double largest = 0.0;
    for (Eigen::Index i = 0; i < gradient.size(); i += kUnknowns) {
      largest = std::max({largest, gradient.segment<6>(i).lpNorm<Eigen::Infinity>(),
                          per_bond_unit * gradient.segment<3>(i + 6).lpNorm<Eigen::Infinity>()});
    }
    return largest;
  }
  /// Largest factor of a step at which no molecule moves by more than 0.1 A or 0.1 rad, and no g_c
  /// by more than 0.1 A^2.
  double step_limit(const Eigen::VectorXd& step) const {
    double longest = longest_move(step, kUnknowns);
    for (Eigen::Index i = 0; i < step.size(); i += kUnknowns) {
      longest = std::max(longest, bond_unit_ * step.segment<3>(i + 6).lpNorm<Eigen::Infinity>());
    }
    return 0.1 / longest;
  }
  double energy(Eigen::VectorXd& gradient) {
    trial_ = molecules_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient) {
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      const Eigen::Index i = static_cast<Eigen::Index>(m) * kUnknowns;
      trial_[m].frame = molecules_[m].frame.moved(step.segment<3>(i), step.segment<3>(i + 3));
      trial_[m].g = molecules_[m].g + bond_unit_ * step.segment<3>(i + 6);
    }
    return evaluate(gradient);
  }
  void accept() { molecules_ = trial_; }
  void write(std::span<double> positions_A) const {
    Triangle triangle(force_field_.model());
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      Triangle::from_bond_values(force_field_.model(), molecules_[m].g, triangle);
      molecules_[m].frame.place(triangle, &positions_A[9 * m]);
    }
  }

 private:
  struct Molecule {
    MoleculeFrame frame;
    Eigen::Vector3d g;
  };
  /// Energy and gradient at the trial molecules.
  double evaluate(Eigen::VectorXd& gradient) {
    double sum_g2 = 0.0;
    for (std::size_t m = 0; m < trial_.size(); ++m) {
      if (!Triangle::from_bond_values(force_field_.model(), trial_[m].g, triangles_[m])) {
        return std::numeric_limits<double>::infinity();
      }
      trial_[m].frame.place(triangles_[m], &positions_[9 * m]);
      sum_g2 += trial_[m].g.squaredNorm();
    }
    const double v0 = force_field_.energy_and_forces(positions_, forces_).total_kcal_per_mol();
    for (std::size_t m = 0; m < trial_.size(); ++m) {
      const Eigen::Index i = static_cast<Eigen::Index>(m) * kUnknowns;
      rigid_gradient(m, positions_, forces_, &gradient[i]);
      const Eigen::Map<const Eigen::Matrix3d> f(&forces_[9 * m]);
      const Eigen::Quaterniond back = trial_[m].frame.rotation.conjugate();
      const Eigen::Vector3d along_bonds = triangles_[m].pull_back(back * f.col(1), back * f.col(2));
      gradient.segment<3>(i + 6) = bond_unit_ * (omega_ * omega_ * trial_[m].g - along_bonds);
    }
    return v0 + 0.5 * omega_ * omega_ * sum_g2;
  }

  ForceField& force_field_;
  double omega_;
  double bond_unit_;  // of g_c [A^2]
  std::vector<Molecule> molecules_, trial_;
  std::vector<Triangle> triangles_;
  std::vector<double> positions_, forces_;
};

}  // namespace tarn::start
