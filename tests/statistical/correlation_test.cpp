#include "csv_columns.hpp"
#include "quiet_run.hpp"

/// @file
/// Time correlation functions of lone rigid molecules against closed forms.

namespace tarn {
namespace {

using namespace test;

constexpr double kTemperature_K = 300.0;

/// A vector of the molecule, and what turns it: the sum of 1/I over the two axes across.
struct Turning {
  const char* vector;
  double inverse;
};
std::array<Turning, 2> turning_vectors() {
  const WaterModel model = find_water_model("tip3p").value();
  const double half = 0.5 * model.angle_hoh_degrees * units::pi / 180.0;
  const double across = model.r_oh_A * std::sin(half), along = model.r_oh_A * std::cos(half);
  const double about_dipole = 2.0 * model.mass_h_Da * across * across;
  const double about_hh =
      model.mass_o_Da * 2.0 * model.mass_h_Da / model.molecule_mass_Da() * along * along;
  const double about_normal = about_dipole + about_hh;
  return {{{"dipole", 1.0 / about_hh + 1.0 / about_normal},
           {"hh", 1.0 / about_dipole + 1.0 / about_normal}}};
}

using Columns = std::map<std::string, std::vector<double>>;

/// Free molecules: C_l = 1 - l(l+1)/4 <w^2> t^2 + O(t^4), where w^2 across an axis is kT (1/I +
/// 1/I').
TEST(Correlation, BeginsAsFreeMoleculesTurn) {
  const ScratchFolder folder;
  run_text(
      "[system]\nmolecules = 1\nreplicas = 20000\ntemperature_K = 300.0\nseed = 3\n"
      "[integrator]\nscheme = \"settle\"\ntimestep_fs = 0.5\n[run]\nsteps = 60\n"
      "[observe.correlation]\nevery = 2\nlength_ps = 0.01\n",
      folder);
  const Columns columns = columns_of(folder.file("out/correlation.csv"));
  constexpr std::size_t kRow = 5;
  EXPECT_NEAR(columns.at("time_ps")[kRow], 0.005, 1e-12);
  const double t = units::akma_from_fs(5.0);
  const double kT = units::boltzmann_kcal_per_mol_K * kTemperature_K;
  for (const Turning& c : turning_vectors()) {
    SCOPED_TRACE(c.vector);
    const double first = 0.5 * kT * c.inverse * t * t;
    ASSERT_LT(first, 0.01);
    for (const int order : {1, 2}) {
      const double fallen = order == 1 ? first : 3.0 * first;
      const std::string column = fmt::format("{}_p{}", c.vector, order);
      const double mean = columns.at(column)[kRow], error = columns.at(column + "_err")[kRow];
      EXPECT_GT(error, 0.0);
      EXPECT_LT(error, 0.02 * fallen);
      // The term in t^4 of the series of exp(-x) is x^2 / 2, of spread frequencies three times
      // that.
      EXPECT_NEAR(1.0 - mean, fallen, 4.5 * error + 1.5 * fallen * fallen);
    }
  }
}

/// Molecules in a strong bath turn by diffusion (Debye): C_1 = exp(-(D + D') t), D = kT/(gamma I)
/// to order kT/(I gamma^2). A step of GLA turns on for the time h/2 coth(gamma h/2), not 1/gamma.
TEST(Correlation, OfMoleculesThatDiffuseIsExponential) {
  constexpr double kFriction_per_ps = 400.0, kStep_fs = 1.0;
  const ScratchFolder folder;
  const RunResult result =
      run_text(fmt::format("[system]\nmolecules = 1\nreplicas = 2048\nseed = 5\n[integrator]\n"
                           "scheme = \"settle\"\ntimestep_fs = {}\n[thermostat]\nkind = \"gla\"\n"
                           "temperature_K = 300.0\nfriction_per_ps = {}\n[run]\nsteps = 12000\n"
                           "[observe.correlation]\nevery = 20\nlength_ps = 5.0\n",
                           kStep_fs, kFriction_per_ps),
               folder);
  const Columns columns = columns_of(folder.file("out/correlation.csv"));
  constexpr std::size_t kRow = 25;
  EXPECT_NEAR(columns.at("time_ps")[kRow], 0.5, 1e-12);
  const double h = units::akma_from_fs(kStep_fs);
  const double friction = kFriction_per_ps * units::ps_from_akma(1.0);
  const double kept = 0.5 * h / std::tanh(0.5 * friction * h);
  const double kT = units::boltzmann_kcal_per_mol_K * kTemperature_K;
  for (const Turning& c : turning_vectors()) {
    SCOPED_TRACE(c.vector);
    const double rate = kT * c.inverse * kept;
    const double time_ps = units::ps_from_akma(1.0 / rate);
    const double inertia = 4.0 * kT * c.inverse / (friction * friction);
    ASSERT_LT(inertia, 0.02);
    const std::string column = fmt::format("{}_p1", c.vector);
    const double mean = columns.at(column)[kRow], error = columns.at(column + "_err")[kRow];
    EXPECT_LT(error, 0.02);
    EXPECT_NEAR(mean, std::exp(-0.5 / time_ps), 4.5 * error + inertia);
    const auto integral =
        std::find_if(result.averages.begin(), result.averages.end(),
                     [&](const AveragedQuantity& a) { return a.quantity == column + "_time_ps"; });
    ASSERT_NE(integral, result.averages.end());
    EXPECT_LT(integral->error, 0.03 * time_ps);
    EXPECT_NEAR(integral->mean, time_ps, 4.5 * integral->error + inertia * time_ps);
  }
}

}  // namespace
}  // namespace tarn
