#include "rings.hpp"

/// @file
/// Averages of ring polymers against those of an independent program.

namespace tarn {
namespace {

using test::expect_mean;
using test::run_rings;

/// One q-TIP4P/F molecule at 300 K: total energies, with the errors of the other program.
TEST(RingPolymers, EnergyOfOneMolecule) {
  expect_mean(run_rings("qtip4pf", 1, 4, 300.0, 8.0, 128), "energy_virial_kcal_per_mol", 7.823,
              0.014, 0.05);
  const RunResult sixteen = run_rings("qtip4pf", 1, 16, 300.0, 5.0, 64);
  expect_mean(sixteen, "energy_virial_kcal_per_mol", 13.449, 0.013, 0.08);
  // Both estimators have the same mean.
  expect_mean(sixteen, "energy_primitive_kcal_per_mol", 13.449, 0.013, 0.6);
  expect_mean(sixteen, "centroid_K", 300.0, 0.0, 10.0);
  expect_mean(sixteen, "internal_K", 300.0, 0.0, 3.0);
}

/// 32 beads: kinetic energies per atom, radius of gyration and bond length.
TEST(RingPolymers, ThirtyTwoBeadsOfOneMolecule) {
  const RunResult result = run_rings("qtip4pf", 1, 32, 300.0, 6.0, 64);
  expect_mean(result, "energy_virial_kcal_per_mol", 14.502, 0.015, 0.05);
  expect_mean(result, "kinetic_o_kcal_per_mol", 1.2201, 0.0013, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.4211, 0.0025, 0.01);
  expect_mean(result, "gyration2_h_A2", 0.028447, 0.000041, 0.0003);
  expect_mean(result, "q_oh_A", 0.95842, 0.00003, 0.0003);
}

/// A dimer at 100 K with 64 beads: energies between and within the molecules.
TEST(RingPolymers, DimerAt100K) {
  const RunResult result = run_rings("qtip4pf", 2, 64, 100.0, 4.0, 32);
  expect_mean(result, "energy_virial_kcal_per_mol", 20.838, 0.011, 0.1);
  expect_mean(result, "kinetic_o_kcal_per_mol", 0.6908, 0.0005, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.0963, 0.0009, 0.01);
  expect_mean(result, "intramolecular_kcal_per_mol", 12.744, 0.007, 0.05);
  expect_mean(result, "potential_kcal_per_mol", -5.672, 0.011, 0.05);
  expect_mean(result, "q_oh_A", 0.96206, 0.00002, 0.0003);
}

/// Economised frequencies: 24 beads at 300 K are converged, where 32 Trotter beads are 3 % off.
TEST(RingPolymers, EconomisedMolecule) {
  const RunResult result = run_rings("qtip4pf", 1, 24, 300.0, 6.0, 64, "", "economised");
  expect_mean(result, "energy_virial_kcal_per_mol", 14.874, 0.025, 0.08);
  expect_mean(result, "energy_primitive_kcal_per_mol", 14.950, 0.036, 0.6);
  expect_mean(result, "kinetic_o_kcal_per_mol", 1.2341, 0.0020, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.4963, 0.0035, 0.01);
}

/// The dimer at 100 K with 48 economised beads has more energy than with 64 Trotter beads.
TEST(RingPolymers, EconomisedDimer) {
  const RunResult result = run_rings("qtip4pf", 2, 48, 100.0, 5.0, 32, "", "economised");
  expect_mean(result, "energy_virial_kcal_per_mol", 22.114, 0.036, 0.1);
  expect_mean(result, "energy_primitive_kcal_per_mol", 22.108, 0.040, 0.6);
  expect_mean(result, "kinetic_o_kcal_per_mol", 0.7094, 0.0023, 0.01);
  expect_mean(result, "kinetic_h_kcal_per_mol", 3.2475, 0.0026, 0.01);
}

TEST(RingPolymers, OneBeadIsClassical) {
  const RunResult result = run_rings("qtip4pf", 1, 1, 300.0, 5.0, 128);
  const double kinetic = 1.5 * units::boltzmann_kcal_per_mol_K * 300.0;
  expect_mean(result, "kinetic_h_kcal_per_mol", kinetic, 1e-12, 1e-9);
  expect_mean(result, "energy_virial_kcal_per_mol", 3.579, 0.030, 0.1);
}

}  // namespace
}  // namespace tarn
