#include "csv_columns.hpp"
#include "quiet_run.hpp"

/// @file
/// The heat capacity of a water molecule with quantum nuclei, by the covariance of two estimators
/// of its energy and by the energies 2 % below and above.

namespace tarn {
namespace {

TEST(RingHeatCapacity, IsTheSlopeOfTheEnergy) {
  const test::ScratchFolder folder;
  RunOptions options = test::quiet_run(folder.file("out"));
  const RunResult result = run_deck(
      parse_deck("[system]\nmodel = \"qtip4pf\"\nmolecules = 1\nreplicas = 192\n"
                 "[thermostat]\nfriction_per_ps = 20.0\ntemperatures_K = [588, 600, 612]\n"
                 "[path_integral]\nbeads = 24\n[run]\nequilibration_ps = 1.0\nduration_ps = 9.0\n"
                 "[observe.path_integral]\nevery = 10\nreplicas = \"mean\"\n",
                 "deck.toml"),
      options);
  const auto t = test::columns_of(options.out_dir + "/heat_capacity.csv");
  // Rows of 588, 594, 600, 606 and 612 K. Both quotients share the energy of 600 K, which drops
  // out of their mean.
  const auto& energy = t.at("energy_kcal_per_mol");
  const auto& energy_err = t.at("energy_err");
  constexpr double kStep_K = 24.0;
  const double quotient =
      (energy[4] - energy[0]) / kStep_K -
      0.5 * (t.at("difference_quotient_bias")[1] + t.at("difference_quotient_bias")[3]);
  const double quotient_err = std::hypot(energy_err[0], energy_err[4]) / kStep_K;
  double capacity = 0.0, error2 = 0.0;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "heat_capacity_kcal_per_mol_K") continue;
    capacity += a.mean / 3.0;
    error2 += a.error * a.error / 9.0;
  }
  for (const std::size_t row : {0, 2, 4}) capacity -= t.at("heat_capacity_bias")[row] / 3.0;
  const double error = std::sqrt(error2 + quotient_err * quotient_err);
  EXPECT_NEAR(capacity, quotient, 4.5 * error);
  // The comparison means something: C is above the 3 k of rigid rotation and translation. The error
  // is 0.4 to 0.5 k, which 64 replicas tell to 9 %: 4.5 of these more are below 0.7 k.
  EXPECT_LT(error, 0.7 * units::boltzmann_kcal_per_mol_K);
  EXPECT_GT(capacity, 3.0 * units::boltzmann_kcal_per_mol_K);
  EXPECT_LT(capacity, 4.5 * units::boltzmann_kcal_per_mol_K);
}

}  // namespace
}  // namespace tarn
