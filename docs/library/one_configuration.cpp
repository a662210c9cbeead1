// Energy and forces of given coordinates, the nearest minimum and its normal modes.
#include <cstdio>
#include <vector>

#include <tarn/cluster_forces.hpp>
#include <tarn/core/error.hpp>
#include <tarn/force_field.hpp>
#include <tarn/minimise.hpp>
#include <tarn/modes.hpp>
#include <tarn/physics/water_model.hpp>

int main() try {
  const tarn::WaterModel model = tarn::find_water_model("tip3p").value();
  // O, H1, H2 of each molecule in angstrom. tarn/io/structure.hpp reads XYZ, GRO and PDB files.
  std::vector<double> positions_A{0.00, 0.00, 0.00, 0.96, 0.00, 0.00, -0.24, 0.93, 0.00,
                                  2.90, 0.10, 0.00, 3.30, 0.50, 0.76, 3.30,  0.50, -0.76};

  const tarn::SinglePoint point = tarn::single_point(model, positions_A, {.name = "cpu"});
  std::printf("V0 = %.6f kcal/mol: Coulomb %.6f, Lennard-Jones %.6f\n",
              point.energy.total_kcal_per_mol(), point.energy.coulomb_kcal_per_mol,
              point.energy.lj_kcal_per_mol);
  std::printf("force on the first oxygen: %.4f %.4f %.4f kcal/mol/A\n",
              point.forces_kcal_per_mol_A[0], point.forces_kcal_per_mol_A[1],
              point.forces_kcal_per_mol_A[2]);

  // For repeated evaluations: a ForceField reuses its work space.
  tarn::ForceField force_field(model, 2);
  const tarn::MinimiseResult minimum = tarn::quench(force_field, positions_A);
  std::printf("minimum of the rigid dimer: %.6f kcal/mol after %d iterations\n",
              minimum.energy_kcal_per_mol, minimum.iterations);

  const tarn::NormalModes modes = tarn::normal_modes(model, positions_A);
  std::printf("zero-point energy: %.4f kcal/mol\n", modes.zero_point_energy_kcal_per_mol());
  for (const tarn::NormalMode& mode : modes.modes) {
    std::printf("%8.2f 1/cm, %7.2f km/mol\n", mode.wavenumber_per_cm,
                mode.ir_intensity_km_per_mol());
  }
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
