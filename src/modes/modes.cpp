#include "tarn/modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <fmt/format.h>

#include "mode_coordinates.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/flat_coordinates.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/penalty.hpp"

namespace tarn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Eigenvalues in increasing order, and eigenvectors in columns.
struct Spectrum {
  VectorXd values;
  MatrixXd vectors;
};

/// Spectrum of K in the space orthogonal to the columns of `rigid_body`.
Spectrum orthogonal_spectrum(const MatrixXd& rigid_body, MatrixXd hessian) {
  const Index n = hessian.rows(), rest = n - rigid_body.cols();
  if (rest == 0) return {VectorXd(0), MatrixXd(n, 0)};
  // The first columns of Q span `rigid_body`, the others its orthogonal complement.
  const Eigen::HouseholderQR<MatrixXd> qr(rigid_body);
  hessian.applyOnTheLeft(qr.householderQ().adjoint());
  hessian.applyOnTheRight(qr.householderQ());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(hessian.bottomRightCorner(rest, rest));
  if (solver.info() != Eigen::Success) {
    throw NumericalError("the eigenvalue solver for the second derivatives did not converge");
  }
  Spectrum spectrum{solver.eigenvalues(), MatrixXd::Zero(n, rest)};
  spectrum.vectors.bottomRows(rest) = solver.eigenvectors();
  spectrum.vectors.applyOnTheLeft(qr.householderQ());
  return spectrum;
}

double wavenumber_per_cm(double eigenvalue) {
  return std::copysign(units::wavenumber_per_cm(std::sqrt(std::abs(eigenvalue))), eigenvalue);
}

void check_size(const WaterModel& model, std::span<const double> positions_A, double omega) {
  if (positions_A.empty() || positions_A.size() % 9 != 0) {
    throw InputError(
        fmt::format("{} coordinates given; a cluster has nine per molecule", positions_A.size()));
  }
  check_modes(model, static_cast<int>(positions_A.size() / 9), omega);
}

MatrixXd finite_hessian(const modes::ModeCoordinates& coordinates, double strength,
                        std::span<const double> forces) {
  MatrixXd hessian = coordinates.hessian(strength, forces);
  if (!hessian.allFinite()) {
    throw NumericalError(
        "the second derivatives of the energy are not finite: atoms of two molecules may coincide");
  }
  return hessian;
}

}  // namespace

double NormalMode::ir_intensity_km_per_mol() const {
  return units::absorption_km_per_mol_A2_Da_per_D2 * ir_intensity_D2_per_A2_Da;
}

int NormalModes::imaginary_count() const {
  return static_cast<int>(std::count_if(
      modes.begin(), modes.end(), [](const NormalMode& m) { return m.wavenumber_per_cm < 0.0; }));
}

double NormalModes::lowest_per_cm() const {
  const auto lowest = std::find_if(modes.begin(), modes.end(),
                                   [](const NormalMode& m) { return m.wavenumber_per_cm != 0.0; });
  return lowest == modes.end() ? std::numeric_limits<double>::quiet_NaN()
                               : lowest->wavenumber_per_cm;
}

double NormalModes::zero_point_energy_kcal_per_mol() const {
  double sum_per_cm = 0.0;
  for (const NormalMode& m : modes) sum_per_cm += std::max(0.0, m.wavenumber_per_cm);
  return 0.5 * units::quantum_kcal_cm_per_mol * sum_per_cm;
}

void check_modes(const WaterModel& model, int molecules, double omega) {
  const bool no_penalty = std::isinf(omega) && omega > 0.0;
  if (model.is_flexible() && !no_penalty) {
    throw InputError(fmt::format(
        "omega = {:g}: {} is a flexible model, which has no penalty. Omit omega, or use a rigid "
        "model: {}",
        omega, model.name, rigid_model_names()));
  }
  const bool rigid = no_penalty && !model.is_flexible();
  if (!no_penalty && !(omega > 0.0 && omega <= kMaxModeOmega)) {
    throw InputError(
        fmt::format("omega = {:g}: must be above 0 and at most {:g} sqrt(kcal/mol)/A^2; omit it "
                    "for rigid molecules",
                    omega, kMaxModeOmega));
  }
  const int limit = most_mode_molecules(rigid);
  if (molecules > limit) {
    throw InputError(fmt::format("{} molecules: normal modes are limited to {} {} molecules",
                                 molecules, limit, rigid ? "rigid" : "flexible"));
  }
}

NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A,
                         double omega) {
  check_size(model, positions_A, omega);
  const bool penalised = std::isfinite(omega), rigid = !penalised && !model.is_flexible();
  const modes::ModeCoordinates coordinates(model, positions_A, rigid);
  std::vector<double> forces(positions_A.size());
  NormalModes result;
  result.energy_kcal_per_mol = ForceField(model, coordinates.molecules())
                                   .energy_and_forces(positions_A, forces)
                                   .total_kcal_per_mol();
  const double strength = penalised ? omega : 0.0;
  MatrixXd hessian = finite_hessian(coordinates, strength, forces);
  if (penalised) {
    const BondReference<double> reference = bond_reference(model);
    for (std::size_t k = 0; k < positions_A.size() / 9; ++k) {
      const Triple<double> x = molecule_at(positions_A.data(), k);
      result.energy_kcal_per_mol += penalty_energy(x, reference, omega);
      put_molecule(molecule_at(forces.data(), k) + penalty_force(x, reference, omega),
                   forces.data(), k);
    }
  }
  result.max_gradient_kcal_per_mol_A = coordinates.max_gradient(forces);

  const MatrixXd rigid_body = coordinates.rigid_body_motions();
  const MatrixXd dipole = coordinates.dipole_derivatives();
  const Spectrum spectrum = orthogonal_spectrum(rigid_body, std::move(hessian));
  const auto add = [&](double wavenumber_per_cm, const Eigen::Ref<const VectorXd>& y) {
    constexpr double kDebye2 = units::debye_per_e_A * units::debye_per_e_A;
    const Eigen::Vector3d shares = coordinates.kinetic_shares(y);
    result.modes.push_back(
        {wavenumber_per_cm, kDebye2 * (dipole * y).squaredNorm(), shares[0], shares[1], shares[2]});
    const VectorXd x = coordinates.displacements(y);
    result.displacements_per_sqrt_Da.insert(result.displacements_per_sqrt_Da.end(), x.begin(),
                                            x.end());
  };
  const Index imaginary = (spectrum.values.array() < 0.0).count();
  for (Index i = 0; i < imaginary; ++i) {
    add(wavenumber_per_cm(spectrum.values[i]), spectrum.vectors.col(i));
  }
  for (Index i = 0; i < rigid_body.cols(); ++i) add(0.0, rigid_body.col(i));
  for (Index i = imaginary; i < spectrum.values.size(); ++i) {
    add(wavenumber_per_cm(spectrum.values[i]), spectrum.vectors.col(i));
  }
  return result;
}

bool has_negative_curvature(const WaterModel& model, std::span<const double> positions_A,
                            double curvature_kcal_per_mol_A2_Da) {
  check_size(model, positions_A, std::numeric_limits<double>::infinity());
  const modes::ModeCoordinates coordinates(model, positions_A, !model.is_flexible());
  if (coordinates.molecules() < 2 && !model.is_flexible()) return false;
  std::vector<double> forces(positions_A.size());
  ForceField(model, coordinates.molecules()).energy_and_forces(positions_A, forces);
  MatrixXd hessian = finite_hessian(coordinates, 0.0, forces);
  // Make the matrix positive definite unless there is negative curvature: rigid-body motions, which
  // have zero curvature, receive the average stiffness, and all motions the threshold.
  const MatrixXd rigid_body = coordinates.rigid_body_motions();
  const double stiffness = hessian.trace() / static_cast<double>(hessian.rows());
  hessian.noalias() += std::abs(stiffness) * (rigid_body * rigid_body.transpose());
  hessian.diagonal().array() += curvature_kcal_per_mol_A2_Da;
  return Eigen::LLT<Eigen::Ref<MatrixXd>>(hessian).info() != Eigen::Success;
}

}  // namespace tarn
