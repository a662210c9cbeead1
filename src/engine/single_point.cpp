#include "tarn/single_point.hpp"

#include <cstddef>
#include <utility>

#include "device_engine.hpp"

namespace tarn {
namespace {

/// Bond strength so small that its forces are below the rounding of all others in double precision.
constexpr double kNoStrength = 1e-12;

System system_of(const WaterModel& model, int molecules, Scheme scheme) {
  System system;
  system.model = model;
  system.molecules = molecules;
  system.integrator.scheme = scheme;
  system.integrator.timestep_akma = 1.0;
  system.integrator.omega = kNoStrength;
  return system;
}

/// One cluster at rest, evaluated by the engine of a device.
struct OnDevice {
  State at;
  DeviceRequest device;

  /// Energies at the positions; with this scheme they equal the reported positions.
  Energies energies(const WaterModel& model) const {
    const System system = system_of(model, at.molecules, Scheme::verlet);
    Frame frame;
    make_device_engine(system, at, {}, device)->snapshot(kEnergies, frame);
    return frame.energies.at(0);
  }

  /// Forces of a rigid model from the reported positions of Z&Ss, q = x + b h^2 F/m. b h^2 is so
  /// large that the rounding of x is negligible.
  std::vector<double> forces_kcal_per_mol_A(WaterModel model) const {
    model.intramolecular = {};
    System system = system_of(model, at.molecules, Scheme::zss_stiff);
    system.integrator.beta = 0.25;
    system.integrator.timestep_akma = 0x1p11;
    constexpr double kBh2 = 0x1p20;
    Frame frame;
    make_device_engine(system, at, {}, device)->snapshot(kPositions, frame);
    std::vector<double> forces(at.positions_A.size());
    for (std::size_t k = 0; k < forces.size(); ++k) {
      const double mass_Da = model.mass_Da(static_cast<int>(k % 9 / 3));
      forces[k] = mass_Da * (frame.positions_A.at(k) - at.positions_A[k]) / kBh2;
    }
    return forces;
  }
};

}  // namespace

SinglePoint single_point(const WaterModel& model, std::span<const double> positions_A,
                         const DeviceRequest& device) {
  const auto molecules = static_cast<int>(positions_A.size() / kCoordinatesPerMolecule);
  SinglePoint result;
  if (device.name == "auto" || device.name == "cpu") {
    result.forces_kcal_per_mol_A.resize(positions_A.size());
    result.energy =
        ForceField(model, molecules).energy_and_forces(positions_A, result.forces_kcal_per_mol_A);
    return result;
  }
  State at;
  at.molecules = molecules;
  at.replica_ids = {0};
  at.positions_A.assign(positions_A.begin(), positions_A.end());
  at.velocities_A_per_akma.assign(positions_A.size(), 0.0);
  const OnDevice cluster{std::move(at), device};
  // Engines report the sum of both energies.
  WaterModel charges = model, spheres = model;
  charges.lj_a_kcal_A12_per_mol = charges.lj_c_kcal_A6_per_mol = 0.0;
  spheres.charge_o_e = spheres.charge_h_e = spheres.charge_m_e = 0.0;
  const Energies of_charges = cluster.energies(charges);
  result.energy.coulomb_kcal_per_mol = of_charges.potential_kcal_per_mol;
  result.energy.lj_kcal_per_mol = cluster.energies(spheres).potential_kcal_per_mol;
  result.forces_kcal_per_mol_A = cluster.forces_kcal_per_mol_A(model);
  if (model.is_flexible()) {
    result.energy.intramolecular_kcal_per_mol = of_charges.bond_kcal_per_mol;
    add_intramolecular_forces(model, positions_A, result.forces_kcal_per_mol_A);
  }
  return result;
}

}  // namespace tarn
