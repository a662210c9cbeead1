#include "tarn/single_point.hpp"

#include "at_rest.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

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
  if (molecules == 0) throw InputError("a single point needs at least one molecule");
  const AtRest cluster(molecules, positions_A, device);
  // Engines report the sum of both energies.
  WaterModel charges = model, spheres = model;
  charges.lj_a_kcal_A12_per_mol = charges.lj_c_kcal_A6_per_mol = 0.0;
  spheres.charge_o_e = spheres.charge_h_e = spheres.charge_m_e = 0.0;
  const Energies of_charges = cluster.energies(charges).at(0);
  result.energy.coulomb_kcal_per_mol = of_charges.potential_kcal_per_mol;
  result.energy.lj_kcal_per_mol = cluster.energies(spheres).at(0).potential_kcal_per_mol;
  result.forces_kcal_per_mol_A = cluster.forces_kcal_per_mol_A(model);
  if (model.is_flexible()) {
    result.energy.intramolecular_kcal_per_mol = of_charges.bond_kcal_per_mol;
    add_intramolecular_forces(model, positions_A, result.forces_kcal_per_mol_A);
  }
  return result;
}

}  // namespace tarn
