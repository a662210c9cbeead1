#include "full_product.hpp"
#include "quiet_run.hpp"

/// @file
/// Averages of ring polymers against those of an independent program: plain loops in double
/// precision, with the same scheme, step and friction of the centroids. Energies in kcal/mol, K of
/// O and H per atom, squared radii of gyration in A^2. With the label `long` runs have some fifteen
/// times the samples, down to a fraction of the errors of the other program.

namespace tarn {
namespace {

using namespace test;

/// @param short_ps duration; long runs have 100 ps, of a dimer 60 ps
/// @param more keys of [system], each on a line
/// @param frequencies of [path_integral]; the published numbers are for those of Trotter
RunResult run_rings(int molecules, int beads, double temperature_K, double short_ps, int replicas,
                    const std::string& more = "", const std::string& frequencies = "trotter") {
  const ScratchFolder folder;
  const double duration_ps = !covers_everything() ? short_ps : molecules > 1 ? 60.0 : 100.0;
  RunResult result = run_text(
      fmt::format("[system]\nmodel = \"qtip4pf\"\nmolecules = {}\nreplicas = {}\n{}"
                  "[integrator]\nscheme = \"verlet\"\n"
                  "[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 5.0\ntemperature_K = {}\n"
                  "[path_integral]\nbeads = {}\nfrequencies = \"{}\"\n"
                  "[run]\nequilibration_ps = 1.0\nduration_ps = {}\n"
                  "[observe.path_integral]\nevery = 20\nreplicas = \"mean\"\n"
                  "[observe.geometry]\nevery = 20\nreplicas = \"mean\"\n",
                  molecules, replicas, more, temperature_K, beads, frequencies, duration_ps),
      folder);
  for (const AveragedQuantity& a : result.averages) {
    const std::string name = a.quantity + "_P" + std::to_string(beads);
    ::testing::Test::RecordProperty(name, std::to_string(a.mean));
    ::testing::Test::RecordProperty(name + "_error", std::to_string(a.error));
  }
  return result;
}

/// Expects a mean within 4.5 standard errors of a number that is itself known to `error`.
/// @param short_error, long_error largest errors of the mean, so that the comparison has a meaning
void expect_mean(const RunResult& result, std::string_view quantity, double expected, double error,
                 double short_error, double long_error) {
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != quantity) continue;
    EXPECT_LT(a.error, covers_everything() ? long_error : short_error) << quantity;
    EXPECT_NEAR(a.mean, expected, 4.5 * std::hypot(a.error, error))
        << quantity << " +- " << a.error;
    return;
  }
  ADD_FAILURE() << quantity << " has no average";
}

/// One q-TIP4P/F molecule at 300 K: total energies, with the errors of the other program.
TEST(RingPolymers, EnergyOfOneMolecule) {
  expect_mean(run_rings(1, 4, 300.0, 8.0, 128), "energy_virial_kcal_per_mol", 7.823, 0.014, 0.05,
              0.004);
  const RunResult sixteen = run_rings(1, 16, 300.0, 5.0, 64);
  expect_mean(sixteen, "energy_virial_kcal_per_mol", 13.449, 0.013, 0.08, 0.006);
  // Both estimators have the same mean.
  expect_mean(sixteen, "energy_primitive_kcal_per_mol", 13.449, 0.013, 0.6, 0.009);
  expect_mean(sixteen, "centroid_K", 300.0, 0.0, 10.0, 10.0);
  expect_mean(sixteen, "internal_K", 300.0, 0.0, 3.0, 3.0);
}

/// 32 beads: kinetic energies per atom, radius of gyration and bond length.
TEST(RingPolymers, ThirtyTwoBeadsOfOneMolecule) {
  const RunResult result = run_rings(1, 32, 300.0, 6.0, 64);
  expect_mean(result, "energy_virial_kcal_per_mol", 14.502, 0.015, 0.05, 0.006);
  expect_mean(result, "kinetic_o_kcal_per_mol", 1.2201, 0.0013, 0.01, 0.001);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.4211, 0.0025, 0.01, 0.0012);
  expect_mean(result, "gyration2_h_A2", 0.028447, 0.000041, 0.0003, 0.00002);
  expect_mean(result, "q_oh_A", 0.95842, 0.00003, 0.0003, 0.00004);
}

TEST(RingPolymers, HeavyWater) {
  if (!covers_everything()) GTEST_SKIP() << "a long test";
  const RunResult result =
      run_rings(1, 32, 300.0, 100.0, 64, "hydrogen_mass_Da = 2.014102\noxygen_mass_Da = 15.9994\n");
  expect_mean(result, "energy_virial_kcal_per_mol", 11.267, 0.017, 0.006, 0.006);
  expect_mean(result, "kinetic_h_kcal_per_mol", 2.573, 0.002, 0.001, 0.001);
}

/// A dimer at 100 K with 64 beads: energies between and within the molecules.
TEST(RingPolymers, DimerAt100K) {
  const RunResult result = run_rings(2, 64, 100.0, 4.0, 32);
  expect_mean(result, "energy_virial_kcal_per_mol", 20.838, 0.011, 0.1, 0.01);
  expect_mean(result, "kinetic_o_kcal_per_mol", 0.6908, 0.0005, 0.01, 0.0014);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.0963, 0.0009, 0.01, 0.0014);
  expect_mean(result, "intramolecular_kcal_per_mol", 12.744, 0.007, 0.05, 0.006);
  expect_mean(result, "potential_kcal_per_mol", -5.672, 0.011, 0.05, 0.005);
  expect_mean(result, "q_oh_A", 0.96206, 0.00002, 0.0003, 0.00004);
}

/// Economised frequencies: 24 beads at 300 K are converged, where 32 Trotter beads are 3 % off.
TEST(RingPolymers, EconomisedMolecule) {
  const RunResult result = run_rings(1, 24, 300.0, 6.0, 64, "", "economised");
  expect_mean(result, "energy_virial_kcal_per_mol", 14.874, 0.025, 0.08, 0.08);
  expect_mean(result, "energy_primitive_kcal_per_mol", 14.950, 0.036, 0.6, 0.6);
  expect_mean(result, "kinetic_o_kcal_per_mol", 1.2341, 0.0020, 0.01, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.4963, 0.0035, 0.01, 0.01);
}

/// The dimer at 100 K with 48 economised beads has more energy than with 64 Trotter beads.
TEST(RingPolymers, EconomisedDimer) {
  const RunResult result = run_rings(2, 48, 100.0, 5.0, 32, "", "economised");
  expect_mean(result, "energy_virial_kcal_per_mol", 22.114, 0.036, 0.1, 0.1);
  expect_mean(result, "energy_primitive_kcal_per_mol", 22.108, 0.040, 0.6, 0.6);
  expect_mean(result, "kinetic_o_kcal_per_mol", 0.7094, 0.0023, 0.01, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.2475, 0.0026, 0.01, 0.01);
}

/// Kinetic energies by the centroid virial of one bead are 3/2 kT without an error.
TEST(RingPolymers, OneBeadIsClassical) {
  const RunResult result = run_rings(1, 1, 300.0, 5.0, covers_everything() ? 512 : 128);
  const double kinetic = 1.5 * units::boltzmann_kcal_per_mol_K * 300.0;
  EXPECT_NEAR(kinetic, 0.894, 0.0005);
  expect_mean(result, "kinetic_o_kcal_per_mol", kinetic, 1e-12, 1e-9, 1e-9);
  expect_mean(result, "kinetic_h_kcal_per_mol", kinetic, 1e-12, 1e-9, 1e-9);
  expect_mean(result, "energy_virial_kcal_per_mol", 3.579, 0.030, 0.1, 0.003);
}

}  // namespace
}  // namespace tarn
