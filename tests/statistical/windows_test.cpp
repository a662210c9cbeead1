#include <algorithm>
#include <cmath>
#include <map>

#include "csv_columns.hpp"
#include "quiet_run.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/units.hpp"

// The free energy of a rigid TIP4P dimer from windows is that from averages over orientations,
// F(r) = -kT ln(r^2 <exp(-U/kT)>).

namespace tarn {
namespace {

using namespace test;

/// 300 K, kcal/mol; standard errors below 0.01.
const std::map<double, double> kReference{
    {2.60, 1.0062}, {2.80, 0.0000}, {3.00, 0.2535}, {3.20, 0.7537}, {3.40, 1.2164}, {3.60, 1.5796},
    {3.80, 1.8461}, {4.00, 2.0367}, {4.20, 2.1695}, {4.40, 2.2574}, {4.60, 2.3113}, {4.80, 2.3407},
    {5.00, 2.3538}, {5.20, 2.3533}, {5.40, 2.3446}, {5.60, 2.3285}, {5.80, 2.3091}, {6.00, 2.2853}};

std::string deck_of(bool exchange, int ladders, double duration_ps) {
  return "[system]\nmodel = 'tip4p'\nmolecules = 2\nreplicas = " + std::to_string(13 * ladders) +
         "\n[integrator]\ntimestep_fs = 4\n[thermostat]\ntemperature_K = 300\nfriction_per_ps = 5\n"
         "[run]\nduration_ps = " +
         std::to_string(duration_ps) +
         "\nequilibration_ps = 4\n[bias]\ncentres_A = [2.5, 2.75, 3.0, 3.25, 3.5, 3.8, 4.1, 4.4, "
         "4.75, 5.1, 5.45, 5.8, 6.1]\nstiffness_kcal_per_mol_A2 = 8\n" +
         (exchange ? "[exchange]\nevery = 50\n" : "") +
         "[observe.bias]\nevery = 25\nbin_width = 0.04\n";
}

TEST(Windows, DimerHasItsFreeEnergy) {
  constexpr int kLadders = 24;
  for (const bool exchange : {true, false}) {
    const ScratchFolder folder;
    const RunResult r = run_text(deck_of(exchange, kLadders, 24.0), folder);
    EXPECT_EQ(r.exchange.has_value(), exchange);
    auto columns = columns_of(folder.file("out/free_energy.csv"));
    const auto &x = columns["coordinate"], &f = columns["free_energy_kcal_per_mol"],
               &error = columns["free_energy_kcal_per_mol_err"];
    // The zero of the profile is its lowest bin: both are compared at the weighted mean.
    double weights = 0.0, offset = 0.0, chi2 = 0.0;
    std::vector<std::pair<double, double>> differences;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto at = kReference.find(std::round(100.0 * x[k]) / 100.0);
      if (at == kReference.end() || !(error[k] > 0.0)) continue;
      // Of the reference, and of the mean over a bin of 0.04 A where F has a slope of 17.
      const double own = std::hypot(error[k], at->first < 2.7 ? 0.03 : 0.01);
      differences.emplace_back(f[k] - at->second, own);
      weights += 1.0 / (own * own);
      offset += (f[k] - at->second) / (own * own);
    }
    offset /= weights;
    ASSERT_GE(differences.size(), 15u);
    for (const auto& [difference, own] : differences) {
      const double sigmas = (difference - offset) / own;
      EXPECT_LT(analysis::normal_of_t(std::abs(sigmas), kLadders - 1), 4.5);
      chi2 += sigmas * sigmas;
    }
    // Neighbouring bins share the errors of the windows: five of the bins are independent.
    EXPECT_LT(chi2 / static_cast<double>(differences.size()), 1.0 + 4.5 * std::sqrt(2.0 / 5.0));
  }
}

/// A rigid dipole in a field: <cos> = coth a - 1/a with a = mu E/kT.
TEST(Field, AlignsAMoleculeByLangevinsFunction) {
  const ScratchFolder folder;
  constexpr double kField_V_per_nm = 2.0, kTemperature_K = 300.0;
  const RunResult r = run_text(
      "[system]\nmodel = 'tip4p'\nmolecules = 1\nreplicas = 256\n[integrator]\ntimestep_fs = 4\n"
      "[thermostat]\ntemperature_K = 300\nfriction_per_ps = 10\n[run]\nduration_ps = 40\n"
      "equilibration_ps = 4\n[field]\nz_V_per_nm = 2\n[observe.cluster]\nevery = 25\n"
      "[observe.energies]\nevery = 25\n",
      folder);
  const WaterModel model = *find_water_model("tip4p");
  const double mu_e_A = 2.0 * model.dipole_charge_e() * model.r_oh_A *
                        std::cos(0.5 * model.angle_hoh_degrees * units::pi / 180.0);
  const double a = mu_e_A * units::field_from_V_per_nm(kField_V_per_nm) /
                   (units::boltzmann_kcal_per_mol_K * kTemperature_K);
  const double wanted_D = mu_e_A * units::debye_per_e_A * (1.0 / std::tanh(a) - 1.0 / a);
  int found = 0;
  for (const AveragedQuantity& q : r.averages) {
    if (q.quantity == "dipole_z_D") {
      EXPECT_NEAR(q.mean, wanted_D, 4.5 * q.error);
      EXPECT_LT(q.error, 0.02 * wanted_D);
      ++found;
    }
    if (q.quantity == "field_kcal_per_mol") {
      EXPECT_NEAR(q.mean,
                  -wanted_D / units::debye_per_e_A * units::field_from_V_per_nm(kField_V_per_nm),
                  4.5 * q.error);
      ++found;
    }
    if (q.quantity == "dipole_x_D") {
      EXPECT_NEAR(q.mean, 0.0, 4.5 * q.error);
    }
  }
  EXPECT_EQ(found, 2);
}

/// A wall on the largest separation holds a hexamer together at a temperature at which it
/// evaporates, and does not act while it is whole.
TEST(Bias, AWallHoldsAHexamerTogether) {
  const ScratchFolder folder;
  run_text(
      "[system]\nmodel = 'tip4p'\nmolecules = 6\nreplicas = 32\n[integrator]\ntimestep_fs = 4\n"
      "[thermostat]\ntemperature_K = 300\nfriction_per_ps = 5\n[run]\nduration_ps = 60\n"
      "[bias]\ncoordinate = 'largest_separation'\nkind = 'upper_wall'\ncentres_A = [5.0]\n"
      "stiffness_kcal_per_mol_A2 = 20\n[observe.bias]\nevery = 50\n",
      folder);
  auto columns = columns_of(folder.file("out/bias.csv"));
  // K/2 x^2 of 20 kT is at 1.1 A.
  EXPECT_LT(*std::ranges::max_element(columns["coordinate"]), 6.1);
  EXPECT_GT(*std::ranges::max_element(columns["bias_kcal_per_mol"]), 0.0);
  EXPECT_EQ(*std::ranges::min_element(columns["bias_kcal_per_mol"]), 0.0);
}

}  // namespace
}  // namespace tarn
