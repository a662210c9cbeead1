#include "tarn/modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/dense.hpp"
#include "mode_coordinates.hpp"
#include "physics/penalty.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/units.hpp"
#include "tarn/force_field.hpp"
#include "tarn/many_body.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Larger displacements leave the range in which forces are nearly linear.
constexpr double kMaxDisplacement_A = 0.1;

/// Bond coordinates are displaced by this fraction, because the best displacement is proportional
/// to the fourth derivative of the energy to the power of -1/3, and bonds have one some twenty
/// times as large.
constexpr double kBondDisplacement = 0.4;

double wavenumber_per_cm(double eigenvalue) {
  return std::copysign(units::wavenumber_per_cm(std::sqrt(std::abs(eigenvalue))), eigenvalue);
}

void check_size(std::span<const double> positions_A) {
  if (positions_A.empty() || positions_A.size() % 9 != 0) {
    throw InputError(
        fmt::format("{} coordinates given; a cluster has nine per molecule", positions_A.size()));
  }
}
void check_number(int molecules, bool rigid) {
  const int limit = most_mode_molecules(rigid);
  if (molecules > limit) {
    throw InputError(fmt::format("{} molecules: normal modes are limited to {} {} molecules",
                                 molecules, limit, rigid ? "rigid" : "flexible"));
  }
}
void check_arguments(const WaterModel& model, std::span<const double> positions_A, double omega) {
  check_size(positions_A);
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

/// Adds the modes of a Hessian K to the result.
/// @param dipole derivatives of the dipole moment [e/Da^1/2], 3 x size()
void add_modes(const modes::ModeCoordinates& coordinates, MatrixXd hessian, const MatrixXd& dipole,
               NormalModes& result) {
  const MatrixXd rigid_body = coordinates.rigid_body_motions();
  const dense::Spectrum spectrum = dense::orthogonal_spectrum(rigid_body, std::move(hessian));
  const auto add = [&](double wavenumber_per_cm, const Eigen::Ref<const VectorXd>& y) {
    constexpr double kDebye2 = units::debye_per_e_A * units::debye_per_e_A;
    const Eigen::Vector3d shares = coordinates.kinetic_shares(y);
    result.modes.push_back({wavenumber_per_cm, kDebye2 * dense::product(dipole, y).squaredNorm(),
                            shares[0], shares[1], shares[2]});
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
}

/// Displacement for a many-body model, whose forces are exact [A]: differences then have relative
/// errors of 1e-6.
constexpr double kManyBodyDisplacement_A = 2e-3;

/// Energies and forces of a potential at a configuration and at steps of both signs of each
/// coordinate, from one call.
class Displacements {
 public:
  /// @throws NumericalError if a number is not finite
  Displacements(const modes::ModeCoordinates& coordinates, std::span<const double> positions_A,
                double displacement_A, Potential& potential)
      : coordinates_(coordinates), size_(positions_A.size()) {
    const auto images = 2 * static_cast<std::size_t>(coordinates.size()) + 1;
    std::vector<double> x(images * size_), energies(images, kNoNumber);
    forces_.assign(x.size(), kNoNumber);
    std::ranges::copy(positions_A, x.begin());
    for (int i = 0; i < coordinates.size(); ++i) {
      const bool is_bond = i % coordinates.per_molecule() >= 6;
      steps_.push_back(
          coordinates.step_of(i, is_bond ? kBondDisplacement * displacement_A : displacement_A));
      coordinates.place(i, steps_.back(), std::span(x).subspan(image(i, 0) * size_, size_));
      coordinates.place(i, -steps_.back(), std::span(x).subspan(image(i, 1) * size_, size_));
    }
    std::vector<std::int64_t> ids(images);
    std::iota(ids.begin(), ids.end(), 0);
    potential.compute(x, ids, energies, forces_);
    energy_kcal_per_mol_ = energies[0];
    const auto is_finite = [](double number) { return std::isfinite(number); };
    if (std::ranges::all_of(energies, is_finite) && std::ranges::all_of(forces_, is_finite)) {
      const auto dipoles = potential.details().dipoles_e_A;
      dipoles_e_A_.assign(dipoles.begin(), dipoles.end());
      return;
    }
    throw NumericalError(fmt::format(
        "the potential returned an energy or force that is not finite for the structure, or within "
        "{:g} A of it",
        displacement_A));
  }

  double energy_kcal_per_mol() const { return energy_kcal_per_mol_; }
  /// Forces at the configuration.
  std::span<const double> forces() const { return forces_of(0); }
  /// K, symmetrised (equation 90).
  MatrixXd hessian() const {
    MatrixXd differences(coordinates_.size(), coordinates_.size());
    for (int i = 0; i < coordinates_.size(); ++i) {
      differences.col(i) = (coordinates_.gradient(forces_of(image(i, 0))) -
                            coordinates_.gradient(forces_of(image(i, 1)))) /
                           (2.0 * steps_[static_cast<std::size_t>(i)]);
    }
    MatrixXd hessian = 0.5 * (differences + differences.transpose());
    coordinates_.add_rotation_curvature(forces(), hessian);
    return hessian;
  }
  /// Derivatives of the dipole moment, 3 x size(); NaN if the potential has none.
  MatrixXd dipole_derivatives() const {
    MatrixXd derivatives = MatrixXd::Constant(3, coordinates_.size(), kNoNumber);
    if (dipoles_e_A_.empty()) return derivatives;
    for (int i = 0; i < coordinates_.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        derivatives(static_cast<Index>(c), i) =
            (dipoles_e_A_[3 * image(i, 0) + c] - dipoles_e_A_[3 * image(i, 1) + c]) /
            (2.0 * steps_[static_cast<std::size_t>(i)]);
      }
    }
    return derivatives;
  }

 private:
  static std::size_t image(int i, int sign) {
    return 2 * static_cast<std::size_t>(i) + static_cast<std::size_t>(sign) + 1;
  }
  std::span<const double> forces_of(std::size_t image) const {
    return std::span(forces_).subspan(image * size_, size_);
  }

  const modes::ModeCoordinates& coordinates_;
  std::size_t size_;
  std::vector<double> steps_, forces_, dipoles_e_A_;  // [coordinate]; [image][9 N]; [image][3]
  double energy_kcal_per_mol_ = kNoNumber;
};

NormalModes modes_by_differences(const modes::ModeCoordinates& coordinates,
                                 std::span<const double> positions_A, double displacement_A,
                                 Potential& potential) {
  const Displacements displacements(coordinates, positions_A, displacement_A, potential);
  NormalModes result;
  result.energy_kcal_per_mol = displacements.energy_kcal_per_mol();
  result.max_gradient_kcal_per_mol_A = coordinates.max_gradient(displacements.forces());
  add_modes(coordinates, displacements.hessian(), displacements.dipole_derivatives(), result);
  return result;
}

}  // namespace

double NormalMode::ir_intensity_km_per_mol() const {
  return units::absorption_km_per_mol_A2_Da_per_D2 * ir_intensity_D2_per_A2_Da;
}

int NormalModes::imaginary_count() const {
  return static_cast<int>(
      std::ranges::count_if(modes, [](const NormalMode& m) { return m.wavenumber_per_cm < 0.0; }));
}

double NormalModes::lowest_per_cm() const {
  const auto lowest = std::ranges::find_if(
      modes, [](double per_cm) { return per_cm != 0.0; }, &NormalMode::wavenumber_per_cm);
  return lowest == modes.end() ? kNoNumber : lowest->wavenumber_per_cm;
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
  if (model.is_many_body() && !no_penalty) {
    throw InputError(fmt::format("omega = {:g}: {} has no penalty; omit omega", omega, model.name));
  }
  const bool rigid = no_penalty && !model.is_flexible();
  if (!no_penalty && !(omega > 0.0 && omega <= kMaxModeOmega)) {
    throw InputError(
        fmt::format("omega = {:g}: must be above 0 and at most {:g} sqrt(kcal/mol)/A^2; omit it "
                    "for rigid molecules",
                    omega, kMaxModeOmega));
  }
  check_number(molecules, rigid);
}

NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A, double omega,
                         const std::vector<std::array<double, 3>>& atom_masses_Da) {
  check_arguments(model, positions_A, omega);
  const bool penalised = std::isfinite(omega), rigid = !penalised && !model.is_flexible();
  const modes::ModeCoordinates coordinates(model, {model, atom_masses_Da}, positions_A, rigid);
  if (model.is_many_body()) {
    return modes_by_differences(
        coordinates, positions_A, kManyBodyDisplacement_A,
        *many_body_potential(model.many_body, false, 0, {}, model.field_kcal_per_mol_e_A));
  }
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

  add_modes(coordinates, std::move(hessian), coordinates.dipole_derivatives(), result);
  return result;
}

NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A,
                         Potential& potential, double displacement_A,
                         const std::vector<std::array<double, 3>>& atom_masses_Da) {
  check_size(positions_A);
  check_number(static_cast<int>(positions_A.size() / 9), false);
  if (!(displacement_A > 0.0 && displacement_A <= kMaxDisplacement_A)) {
    throw InputError(fmt::format("displacement_A = {:g}: must be above 0 and at most {:g}",
                                 displacement_A, kMaxDisplacement_A));
  }
  return modes_by_differences(
      modes::ModeCoordinates(model, {model, atom_masses_Da}, positions_A, false), positions_A,
      displacement_A, potential);
}

bool has_negative_curvature(const WaterModel& model, std::span<const double> positions_A,
                            double curvature_kcal_per_mol_A2_Da) {
  check_arguments(model, positions_A, std::numeric_limits<double>::infinity());
  const modes::ModeCoordinates coordinates(model, model, positions_A, !model.is_flexible());
  if (coordinates.molecules() < 2 && !model.is_flexible()) return false;
  if (model.is_many_body()) {
    const double lowest_per_cm = normal_modes(model, positions_A).lowest_per_cm();
    return lowest_per_cm < -units::wavenumber_per_cm(std::sqrt(curvature_kcal_per_mol_A2_Da));
  }
  std::vector<double> forces(positions_A.size());
  ForceField(model, coordinates.molecules()).energy_and_forces(positions_A, forces);
  MatrixXd hessian = finite_hessian(coordinates, 0.0, forces);
  // Make the matrix positive definite unless there is negative curvature: rigid-body motions, which
  // have zero curvature, receive the average stiffness, and all motions the threshold.
  const MatrixXd rigid_body = coordinates.rigid_body_motions();
  const double stiffness = hessian.trace() / static_cast<double>(hessian.rows());
  dense::add_outer_product(std::abs(stiffness), rigid_body, hessian);
  hessian.diagonal().array() += curvature_kcal_per_mol_A2_Da;
  VectorXd none = VectorXd::Zero(hessian.rows());
  return !dense::solve_definite(hessian, none);
}

namespace {

/// Contribution of a mode, in units of kT or k.
struct ModeContribution {
  double energy, entropy, heat_capacity;
};
/// @param x quantum of the mode divided by kT
ModeContribution mode_contribution(double x, Statistics statistics) {
  if (statistics == Statistics::classical) return {1.0, 1.0 - std::log(x), 1.0};
  const double below = std::exp(-x), excited = -std::expm1(-x);  // e^-x and 1 - e^-x
  const double quanta = below / excited;
  return {x * (0.5 + quanta), x * quanta - std::log(excited), x * x * quanta / excited};
}

}  // namespace

RigidRotor rigid_rotor(const WaterModel& model, std::span<const double> positions_A,
                       const std::vector<std::array<double, 3>>& atom_masses_Da) {
  const ClusterMasses masses(model, atom_masses_Da);
  const auto atoms = static_cast<Eigen::Index>(positions_A.size() / 3);
  const Eigen::Map<const Eigen::Matrix3Xd> x(positions_A.data(), 3, atoms);
  Eigen::VectorXd masses_Da(atoms), charges_e(atoms);
  for (Eigen::Index a = 0; a < atoms; ++a) {
    masses_Da[a] = masses.atom_Da(static_cast<std::size_t>(a / 3), static_cast<std::size_t>(a % 3));
    charges_e[a] = (a % 3 == 0 ? -2.0 : 1.0) * model.dipole_charge_e();
  }
  const Eigen::Vector3d centre = x * masses_Da / masses_Da.sum();
  const Eigen::Matrix3Xd arms = x.colwise() - centre;
  Eigen::Vector3d dipole_e_A = arms * charges_e;
  if (model.is_many_body()) {
    const auto dipole = many_body_dipole_e_A(model, positions_A);
    dipole_e_A = Eigen::Vector3d(dipole.data());
  }
  const dense::Spectrum3 axes =
      dense::symmetric_spectrum(modes::moment_of_inertia(arms, masses_Da));
  const Eigen::Vector3d along = axes.vectors.transpose() * dipole_e_A;
  RigidRotor rotor;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto axis = static_cast<Eigen::Index>(k);
    rotor.constants_MHz[k] = units::rotational_constant_MHz(axes.values[axis]);
    rotor.dipole_D[k] = units::debye_per_e_A * std::abs(along[axis]);
  }
  return rotor;
}

HarmonicState harmonic_state(const NormalModes& modes, const RigidRotor& rotor, int symmetry_number,
                             double temperature_K, Statistics statistics) {
  if (!(temperature_K > 0.0) || !std::isfinite(temperature_K)) {
    throw InputError(fmt::format("temperature {:g} K: must be above 0", temperature_K));
  }
  if (!modes.is_stationary() || modes.imaginary_count() > 0) {
    throw InputError(
        "the structure is not a minimum, so it has no harmonic vibrations: minimise it first");
  }
  const double kT = units::boltzmann_kcal_per_mol_K * temperature_K;
  // Classical rotor: ln(sqrt(pi T^3/(A B C)) / symmetry number), with A, B and C in kelvins.
  double log_rotor = 0.5 * std::log(units::pi) - std::log(symmetry_number);
  for (const double constant_MHz : rotor.constants_MHz) {
    log_rotor +=
        0.5 *
        std::log(kT / (units::quantum_kcal_cm_per_mol * constant_MHz / units::megahertz_per_cm));
  }
  double energy = 1.5, entropy = 1.5 + log_rotor, heat_capacity = 1.5;
  for (const NormalMode& mode : modes.modes) {
    if (!(mode.wavenumber_per_cm > 0.0)) continue;
    const ModeContribution m =
        mode_contribution(units::quantum_kcal_cm_per_mol * mode.wavenumber_per_cm / kT, statistics);
    energy += m.energy;
    entropy += m.entropy;
    heat_capacity += m.heat_capacity;
  }
  const double k_cal = 1000.0 * units::boltzmann_kcal_per_mol_K;
  return {modes.energy_kcal_per_mol + kT * energy,
          modes.energy_kcal_per_mol + kT * (energy - entropy), k_cal * entropy,
          k_cal * heat_capacity};
}

}  // namespace tarn
