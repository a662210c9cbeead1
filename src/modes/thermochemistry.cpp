#include <cmath>
#include <cstddef>

#include <Eigen/Core>
#include <fmt/format.h>

#include "core/dense.hpp"
#include "mode_coordinates.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/many_body.hpp"
#include "tarn/modes.hpp"

namespace tarn {
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
