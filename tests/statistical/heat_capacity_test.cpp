#include "csv_reader.hpp"
#include "quiet_run.hpp"

/// @file
/// The heat capacity, a variance at one temperature, is the slope of the energy between
/// temperatures; and what all baths together say of one is what it says itself.

namespace tarn {
namespace {

struct CurvePoint {
  double energy = 0.0, capacity = 0.0, capacity_error = 0.0;
};
/// The row of heat_capacity.csv of that temperature.
CurvePoint curve_at(const std::string& folder, double temperature_K) {
  test::CsvReader csv(folder + "/heat_capacity.csv");
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const auto number = [&](const char* column) { return csv.number(cells[csv.column(column)]); };
    if (number("temperature_K") != temperature_K) continue;
    return {number("energy_kcal_per_mol"), number("heat_capacity_kcal_per_mol_K"),
            number("heat_capacity_err")};
  }
  ADD_FAILURE() << "no row of " << temperature_K << " K";
  return {};
}

/// The energy of pairs and wall changes between two baths by the integral of its heat capacity,
/// here by Simpson's rule over three. A liquid droplet of four: the capacity is smooth on 40 K, and
/// the rule's error, of fifth order in that, is far below the noise. The baths are independent;
/// mean and variance of one of them are not, and their errors are added.
TEST(HeatCapacity, IntegratesToTheEnergyBetweenBaths) {
  constexpr int kMolecules = 4;
  constexpr double kFirst_K = 200.0, kStep_K = 20.0;
  const test::ScratchFolder folder;
  const RunResult result = test::run_text(
      "[system]\nmolecules = 4\nreplicas = 48\n"
      "[integrator]\nscheme = \"settle\"\ntimestep_fs = 1.0\n"
      "[thermostat]\nkind = \"baoab\"\ntemperatures_K = [200.0, 220.0, 240.0]\n"
      "friction_per_ps = 5.0\n"
      "[confinement]\nradius_A = 4.0\nstiffness_kcal_per_mol_A2 = 5.0\n"
      "[run]\nequilibration_ps = 20.0\nsteps = 520000\n"
      "[observe.energies]\nevery = 20\nreplicas = 1\n",
      folder);
  std::array<double, 3> energy{}, energy_error{}, capacity{}, capacity_error{};
  for (const AveragedQuantity& a : result.averages) {
    if (!a.bath_K) continue;
    const auto bath =
        static_cast<std::size_t>(std::lround((a.bath_K.value() - kFirst_K) / kStep_K));
    if (a.quantity == "total_kcal_per_mol") energy.at(bath) += a.mean;
    if (a.quantity == "kinetic_kcal_per_mol") energy.at(bath) -= a.mean;
    if (a.quantity == "potential_kcal_per_mol") energy_error.at(bath) = a.error;
    if (a.quantity == "heat_capacity_kcal_per_mol_K") {
      capacity.at(bath) = a.mean - 3.0 * kMolecules * units::boltzmann_kcal_per_mol_K;
      capacity_error.at(bath) = a.error;
    }
  }
  const double integral = kStep_K / 3.0 * (capacity[0] + 4.0 * capacity[1] + capacity[2]);
  const double error = std::hypot(energy_error[0] + kStep_K / 3.0 * capacity_error[0],
                                  4.0 * kStep_K / 3.0 * capacity_error[1],
                                  energy_error[2] + kStep_K / 3.0 * capacity_error[2]);
  EXPECT_LT(error, 0.05 * integral) << "a test that tells something";
  EXPECT_NEAR(energy[2] - energy[0], integral, 4.5 * error) << error;

  // The curve has the samples of the bath, and more: the two differ by less than its own error.
  for (std::size_t bath = 0; bath < 3; ++bath) {
    const CurvePoint point = curve_at(folder.file("out"), kFirst_K + kStep_K * bath);
    EXPECT_NEAR(point.energy, energy.at(bath), 4.5 * energy_error.at(bath));
    EXPECT_NEAR(point.capacity,
                capacity.at(bath) + 3.0 * kMolecules * units::boltzmann_kcal_per_mol_K,
                4.5 * capacity_error.at(bath));
    EXPECT_LT(point.capacity_error, 1.2 * capacity_error.at(bath));
  }
}

/// The energy of pairs changes by the integral of its heat capacity with soft bonds too, whose own
/// motion shows in it: by the trapezoid rule over the rows of the curve, a quarter of a kelvin
/// apart, whose error is far below the noise. The error of a sum of rows that have their samples in
/// common is at most the sum of theirs.
TEST(HeatCapacity, IntegratesToTheEnergyWithSoftBonds) {
  const test::ScratchFolder folder;
  test::run_text(
      "[system]\nmodel = \"tip3p\"\nmolecules = 2\nreplicas = 64\n"
      "[integrator]\nscheme = \"zss-stiff\"\ntimestep_fs = 1.0\nomega = 20.0\n"
      "[thermostat]\nkind = \"baoab\"\ntemperatures_K = [10, 15, 22, 33]\n"
      "friction_per_ps = 5.0\n"
      "[run]\nequilibration_ps = 10.0\nduration_ps = 60.0\n"
      "[observe.energies]\nevery = 10\nreplicas = 1\n",
      folder);
  test::CsvReader csv(folder.file("out/heat_capacity.csv"));
  std::vector<std::string_view> cells;
  double integral = 0.0, error = 0.0, change = 0.0, last_K = 0.0, last_c = 0.0, last_error = 0.0;
  while (csv.next(cells)) {
    const auto number = [&](const char* column) { return csv.number(cells[csv.column(column)]); };
    const double t_K = number("temperature_K"), c_error = number("heat_capacity_err");
    const double c =
        number("heat_capacity_kcal_per_mol_K") - 3.0 * 2.0 * units::boltzmann_kcal_per_mol_K;
    if (last_K == 0.0) {
      change = -number("energy_kcal_per_mol");
      error = number("energy_err");
    } else {
      integral += 0.5 * (t_K - last_K) * (c + last_c);
      error += 0.5 * (t_K - last_K) * (c_error + last_error);
    }
    if (t_K == 33.0) {
      change += number("energy_kcal_per_mol");
      error += number("energy_err");
    }
    last_K = t_K;
    last_c = c;
    last_error = c_error;
  }
  EXPECT_EQ(last_K, 33.0);
  EXPECT_NEAR(integral, change, 4.5 * error);
  EXPECT_LT(error, 0.2 * change) << "the variance has four times as much";
}

/// With a penalty, and states that exchange their baths, too: the weights are those of the energy
/// that the scheme samples, equation (35).
TEST(HeatCapacity, FromAllBathsWithAPenalty) {
  const test::ScratchFolder folder;
  const RunResult result = test::run_text(
      "[system]\nmolecules = 3\nreplicas = 60\n"
      "[integrator]\nscheme = \"zss-stiff\"\ntimestep_fs = 1.0\nomega = 50.0\n"
      "[thermostat]\nkind = \"gla\"\ntemperatures_K = [150, 200, 270]\n"
      "friction_per_ps = 5.0\n[exchange]\nevery = 20\n"
      "[confinement]\nradius_A = 4.0\nstiffness_kcal_per_mol_A2 = 5.0\n"
      "[run]\nequilibration_ps = 10.0\nsteps = 100000\n"
      "[observe.energies]\nevery = 20\nreplicas = 1\n",
      folder);
  int baths = 0;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "heat_capacity_kcal_per_mol_K") continue;
    const CurvePoint point = curve_at(folder.file("out"), a.bath_K.value());
    EXPECT_NEAR(point.capacity, a.mean, 4.5 * a.error) << *a.bath_K;
    EXPECT_LT(a.error, 0.03 * a.mean) << "a test that tells something";
    ++baths;
  }
  EXPECT_EQ(baths, 3);
}

}  // namespace
}  // namespace tarn
