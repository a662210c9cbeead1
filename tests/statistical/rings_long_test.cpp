#include "rings.hpp"

/// @file
/// rings_test.cpp with some fifteen times the samples, down to a fraction of the errors of the
/// reference numbers: energies in kcal/mol, K of O and H per atom, squared radii of gyration of
/// rings in A^2.

namespace tarn {
namespace {

using namespace test;

/// One run with its averages as properties of the test.
RunResult recorded(const std::string& model, int molecules, int beads, double temperature_K,
                   double duration_ps, int replicas, const std::string& more = "") {
  RunResult result = run_rings(model, molecules, beads, temperature_K, duration_ps, replicas, more);
  for (const AveragedQuantity& a : result.averages) {
    const std::string name = a.quantity + "_P" + std::to_string(beads);
    ::testing::Test::RecordProperty(name, std::to_string(a.mean));
    ::testing::Test::RecordProperty(name + "_error", std::to_string(a.error));
  }
  return result;
}

TEST(RingPolymersLong, OneClassicalMolecule) {
  const RunResult result = recorded("qtip4pf", 1, 1, 300.0, 100.0, 512);
  // Kinetic energies by the centroid virial of one bead are 3/2 kT without an error.
  const double kinetic = 1.5 * units::boltzmann_kcal_per_mol_K * 300.0;
  EXPECT_NEAR(kinetic, 0.894, 0.0005);
  expect_mean(result, "kinetic_o_kcal_per_mol", kinetic, 1e-12, 1e-9);
  expect_mean(result, "kinetic_h_kcal_per_mol", kinetic, 1e-12, 1e-9);
  expect_mean(result, "energy_virial_kcal_per_mol", 3.579, 0.030, 0.003);
}

TEST(RingPolymersLong, EnergyOfOneMolecule) {
  expect_mean(recorded("qtip4pf", 1, 4, 300.0, 100.0, 128), "energy_virial_kcal_per_mol", 7.823,
              0.014, 0.004);
  const RunResult sixteen = recorded("qtip4pf", 1, 16, 300.0, 100.0, 64);
  expect_mean(sixteen, "energy_virial_kcal_per_mol", 13.449, 0.013, 0.006);
  expect_mean(sixteen, "energy_primitive_kcal_per_mol", 13.449, 0.013, 0.009);
}

TEST(RingPolymersLong, ThirtyTwoBeadsOfOneMolecule) {
  const RunResult result = recorded("qtip4pf", 1, 32, 300.0, 100.0, 64);
  expect_mean(result, "energy_virial_kcal_per_mol", 14.502, 0.015, 0.006);
  expect_mean(result, "kinetic_o_kcal_per_mol", 1.2201, 0.0013, 0.001);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.4211, 0.0025, 0.0012);
  expect_mean(result, "gyration2_h_A2", 0.028447, 0.000041, 0.00002);
  expect_mean(result, "q_oh_A", 0.95842, 0.00003, 0.00004);
}

TEST(RingPolymersLong, HeavyWater) {
  const RunResult result = recorded("qtip4pf", 1, 32, 300.0, 100.0, 64,
                                    "hydrogen_mass_Da = 2.014102\noxygen_mass_Da = 15.9994\n");
  expect_mean(result, "energy_virial_kcal_per_mol", 11.267, 0.017, 0.006);
  expect_mean(result, "kinetic_h_kcal_per_mol", 2.573, 0.002, 0.001);
}

TEST(RingPolymersLong, DimerAt100K) {
  const RunResult result = recorded("qtip4pf", 2, 64, 100.0, 60.0, 32);
  expect_mean(result, "energy_virial_kcal_per_mol", 20.838, 0.011, 0.01);
  expect_mean(result, "kinetic_o_kcal_per_mol", 0.6908, 0.0005, 0.0014);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.0963, 0.0009, 0.0014);
  expect_mean(result, "intramolecular_kcal_per_mol", 12.744, 0.007, 0.006);
  expect_mean(result, "potential_kcal_per_mol", -5.672, 0.011, 0.005);
  expect_mean(result, "q_oh_A", 0.96206, 0.00002, 0.00004);
}

}  // namespace
}  // namespace tarn
