#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
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

/// V0 + V1, with a penalty or the intramolecular energy of a flexible model, or a potential. The
/// unknowns of a molecule are a translation [A], a rotation about the oxygen [rad] and, unless
/// molecules are rigid, the bond values g_c, whose unit makes V1 about as stiff as V0.
class MolecularCluster {
 public:
  /// @param omega of the penalty; 0 for flexible models and potentials; nothing: rigid molecules
  /// @throws InputError if a molecule is collinear or not finite
  MolecularCluster(ForceField& force_field, std::optional<double> omega,
                   std::span<const double> positions_A)
      : force_field_(force_field),
        rigid_(!omega),
        unknowns_(rigid_ ? 6 : 9),
        omega_(omega.value_or(0.0)),
        bond_unit_(rigid_ ? 0.0 : std::sqrt(kStiffness / bond_stiffness(force_field, omega_))),
        molecules_(positions_A.size() / 9, Molecule(force_field.model())),
        trial_(molecules_),
        positions_(positions_A.size()),
        forces_(positions_A.size()) {
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      auto& [frame, g, triangle] = molecules_[m];
      const WaterModel& model = force_field.model();
      if (!(rigid_ ? MoleculeFrame::nearest_rigid(model, &positions_A[9 * m], frame)
                   : MoleculeFrame::of_atoms(model, &positions_A[9 * m], frame, g))) {
        throw_degenerate(m);
      }
    }
  }

  int size() const { return static_cast<int>(unknowns_) * static_cast<int>(molecules_.size()); }
  double first_scale() const { return 1.0 / kStiffness; }
  double max_gradient(const Eigen::VectorXd& gradient) const {
    if (rigid_) return gradient.lpNorm<Eigen::Infinity>();
    // A force along bond c is dV/dg_c times the gradient of g_c, 2 d_c at each end.
    const double per_bond_unit = 2.0 * force_field_.model().r_hh_A() / bond_unit_;
    double largest = 0.0;
    for (Eigen::Index i = 0; i < gradient.size(); i += unknowns_) {
      largest = std::max({largest, gradient.segment<6>(i).lpNorm<Eigen::Infinity>(),
                          per_bond_unit * gradient.segment<3>(i + 6).lpNorm<Eigen::Infinity>()});
    }
    return largest;
  }
  /// Largest factor of a step at which no rigid molecule moves by more than 0.3 A or 0.3 rad; of
  /// other molecules 0.1 A or 0.1 rad, and no g_c by more than 0.1 A^2.
  double step_limit(const Eigen::VectorXd& step) const {
    double longest = 1e-300;
    for (Eigen::Index i = 0; i < step.size(); i += unknowns_) {
      longest = std::max({longest, step.segment<3>(i).norm(), step.segment<3>(i + 3).norm()});
      if (rigid_) continue;
      longest = std::max(longest, bond_unit_ * step.segment<3>(i + 6).lpNorm<Eigen::Infinity>());
    }
    return (rigid_ ? 0.3 : 0.1) / longest;
  }
  double energy(Eigen::VectorXd& gradient) {
    trial_ = molecules_;
    return evaluate(gradient);
  }
  double try_step(const Eigen::VectorXd& step, Eigen::VectorXd& gradient) {
    for (std::size_t m = 0; m < molecules_.size(); ++m) {
      const Eigen::Index i = static_cast<Eigen::Index>(m) * unknowns_;
      trial_[m].frame = molecules_[m].frame.moved(step.segment<3>(i), step.segment<3>(i + 3));
      if (!rigid_) trial_[m].g = molecules_[m].g + bond_unit_ * step.segment<3>(i + 6);
    }
    return evaluate(gradient);
  }
  void accept() { molecules_ = trial_; }
  void write(std::span<double> positions_A) {
    for (std::size_t m = 0; m < molecules_.size(); ++m) place(molecules_[m], &positions_A[9 * m]);
  }

 private:
  struct Molecule {
    MoleculeFrame frame{Eigen::Vector3d::Zero(), Eigen::Quaterniond::Identity()};
    Eigen::Vector3d g = Eigen::Vector3d::Zero();
    Triangle triangle;

    explicit Molecule(const WaterModel& model) : triangle(model) {}
  };
  /// Writes the atoms of a molecule. @return whether a triangle has its bond values
  bool place(Molecule& m, double* x) const {
    const bool exists = rigid_ || Triangle::from_bond_values(force_field_.model(), m.g, m.triangle);
    m.frame.place(m.triangle, x);
    return exists;
  }
  /// Energy and gradient at the trial molecules.
  double evaluate(Eigen::VectorXd& gradient) {
    double sum_g2 = 0.0;
    for (std::size_t m = 0; m < trial_.size(); ++m) {
      if (!place(trial_[m], &positions_[9 * m])) return std::numeric_limits<double>::infinity();
      sum_g2 += trial_[m].g.squaredNorm();
    }
    const double v0 = force_field_.energy_and_forces(positions_, forces_).total_kcal_per_mol();
    for (std::size_t m = 0; m < trial_.size(); ++m) {
      const auto& [frame, g, triangle] = trial_[m];
      const Eigen::Index i = static_cast<Eigen::Index>(m) * unknowns_;
      rigid_gradient(m, positions_, forces_, &gradient[i]);
      if (rigid_) continue;
      const Eigen::Map<const Eigen::Matrix3d> f(&forces_[9 * m]);
      const Eigen::Quaterniond back = frame.rotation.conjugate();
      const Eigen::Vector3d along_bonds = triangle.pull_back(back * f.col(1), back * f.col(2));
      gradient.segment<3>(i + 6) = bond_unit_ * (omega_ * omega_ * g - along_bonds);
    }
    return v0 + 0.5 * omega_ * omega_ * sum_g2;
  }

  ForceField& force_field_;
  bool rigid_;
  Eigen::Index unknowns_;  // of a molecule
  double omega_;
  double bond_unit_;  // of g_c [A^2]
  std::vector<Molecule> molecules_, trial_;
  std::vector<double> positions_, forces_;
};

}  // namespace tarn::start
