#include "flexible_reference.hpp"
#include "plain_water.hpp"
#include "tarn/force_field.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "worst.hpp"

/// @file
/// Minima, wavenumbers and zero-point energies of flexible models. The expected numbers are those
/// of an independent program with plain loops, with the masses and the Coulomb constant below.

namespace tarn {
namespace {

using namespace test;

constexpr double kMassO_Da = 15.9994, kMassH_Da = 1.00794, kMassD_Da = 2.014102;
constexpr double kCoulomb_kcal_A_per_mol_e2 = 332.0637133;

/// The model with the masses and the Coulomb constant of the other program.
WaterModel as_there(const char* name, double mass_h_Da = kMassH_Da) {
  WaterModel model = *find_water_model(name);
  model.mass_o_Da = kMassO_Da;
  model.mass_h_Da = mass_h_Da;
  const double scale = std::sqrt(kCoulomb_kcal_A_per_mol_e2 / units::coulomb_kcal_A_per_mol_e2);
  for (double* q : {&model.charge_o_e, &model.charge_h_e, &model.charge_m_e}) *q *= scale;
  return model;
}

/// Energies and forces are plain sums with the parameters of the papers. Energies of some 100
/// kcal/mol per molecule, and forces of up to 300 kcal/mol/A.
TEST(FlexibleEnergies, ArePlainSums) {
  for (const PlainFlexibleModel& plain : plain_flexible_models()) {
    SCOPED_TRACE(plain.pairs.name);
    const WaterModel model = *find_water_model(plain.pairs.name);
    WaterModel with_bonds;
    with_bonds.r_oh_A = static_cast<double>(plain.pairs.r_oh);
    with_bonds.angle_hoh_degrees = static_cast<double>(plain.pairs.angle_degrees);
    with_bonds.intramolecular = plain.bonds;
    for (const int molecules : {1, 2, 9}) {
      std::vector<double> x = random_cluster(model, molecules, 3, 0);
      for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] += 0.05 * std::sin(7.0 * static_cast<double>(k + 1));
      }
      PlainEnergy expected = plain_energy(plain.pairs, x);
      long double bonds = 0;
      for (std::size_t m = 0; m < x.size(); m += 9) {
        const FlexibleReference molecule(
            with_bonds, Eigen::Map<const Eigen::Matrix<double, 9, 1>>(&x[m]).cast<Real>());
        bonds += molecule.energy;
        for (int k = 0; k < 9; ++k) {
          expected.forces[m + static_cast<std::size_t>(k)] += molecule.force()[k];
        }
      }
      std::vector<double> forces(x.size());
      const ClusterEnergy e = ForceField(model, molecules).energy_and_forces(x, forces);
      EXPECT_NEAR(e.coulomb_kcal_per_mol, static_cast<double>(expected.coulomb), 1e-11);
      EXPECT_NEAR(e.lj_kcal_per_mol, static_cast<double>(expected.lj), 1e-11);
      EXPECT_NEAR(e.intramolecular_kcal_per_mol, static_cast<double>(bonds), 1e-12 * molecules);
      for (std::size_t k = 0; k < x.size(); ++k) {
        EXPECT_NEAR(forces[k], static_cast<double>(expected.forces[k]), 1e-12 * 300.0) << k;
      }
    }
  }
}

struct OfMolecule {
  const char* model;
  double mass_h_Da;
  std::array<double, 3> per_cm;
  double zero_point_kcal_per_mol;
};
constexpr OfMolecule kMolecules[] = {
    {"qtip4pf", kMassH_Da, {1580.17, 3852.84, 3920.46}, 13.3715},
    {"tip4p2005f", kMassH_Da, {1580.62, 3636.16, 3699.80}, 12.7469},
    {"spcfw", kMassH_Da, {1371.08, 3587.55, 3671.51}, 12.3374},
    {"qspcfw", kMassH_Da, {1386.68, 3589.76, 3669.39}, 12.3598},
    {"qtip4pf", kMassD_Da, {1153.49, 2784.94, 2876.22}, 9.7420},
    {"tip4p2005f", kMassD_Da, {1153.67, 2628.67, 2714.33}, 9.2875},
    {"spcfw", kMassD_Da, {1003.71, 2585.82, 2699.96}, 8.9913},
    {"qspcfw", kMassD_Da, {1014.53, 2588.94, 2697.07}, 9.0071},
};

TEST(FlexibleMolecule, HasThePublishedWavenumbers) {
  for (const OfMolecule& expected : kMolecules) {
    SCOPED_TRACE(std::string(expected.model) + ", " + std::to_string(expected.mass_h_Da) + " Da");
    const WaterModel model = as_there(expected.model, expected.mass_h_Da);
    std::vector<double> x = random_cluster(model, 1, 1, 0);
    ForceField force_field(model, 1);
    EXPECT_NEAR(quench(force_field, x).energy_kcal_per_mol, 0.0, 1e-12);
    const NormalModes modes = normal_modes(model, x);
    ASSERT_EQ(modes.modes.size(), 9u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(modes.modes[6 + k].wavenumber_per_cm, expected.per_cm[k], 0.02);
    }
    EXPECT_NEAR(modes.zero_point_energy_kcal_per_mol(), expected.zero_point_kcal_per_mol, 2e-4);
  }
}

struct OfCluster {
  int molecules;
  double energy_kcal_per_mol, zero_point_kcal_per_mol;  ///< 0: not known
};
/// Dimer, ring trimer, S4 tetramer, ring pentamer, cage hexamer and octamer cube.
constexpr OfCluster kLowest[] = {
    {2, -6.547631, 28.9266}, {3, -17.768844, 45.1360}, {4, -29.864707, 61.1991},
    {5, -39.007540, 0.0},    {6, -50.647488, 93.4526}, {8, -78.446606, 126.8555},
};
constexpr double kPrism_kcal_per_mol = -50.196269, kPrismZeroPoint_kcal_per_mol = 93.6199;
constexpr double kHeavyOctamerZeroPoint_kcal_per_mol = 93.4606;

/// The numbers are given to the sixth and fourth digit.
TEST(FlexibleClusters, HaveTheMinimaOfAnotherProgram) {
  const WaterModel model = as_there("qtip4pf"), heavy = as_there("qtip4pf", kMassD_Da);
  const auto zero_point = [](const WaterModel& with, const std::vector<double>& x) {
    const NormalModes modes = normal_modes(with, x);
    EXPECT_EQ(modes.imaginary_count(), 0);
    EXPECT_TRUE(modes.is_stationary());
    return modes.zero_point_energy_kcal_per_mol();
  };
  for (const OfCluster& expected : kLowest) {
    SCOPED_TRACE(expected.molecules);
    SearchOptions options;
    options.starts = expected.molecules == 6 ? 24 : 6;
    options.keep = expected.molecules == 6 ? 8 : 1;
    const LowestCluster found = lowest_cluster(model, expected.molecules, 1, options);
    EXPECT_NEAR(found.energy_kcal_per_mol, expected.energy_kcal_per_mol, 1e-6);
    if (expected.zero_point_kcal_per_mol != 0.0) {
      EXPECT_NEAR(zero_point(model, found.positions_A), expected.zero_point_kcal_per_mol, 2e-4);
    }
    if (expected.molecules == 8) {
      EXPECT_NEAR(zero_point(heavy, found.positions_A), kHeavyOctamerZeroPoint_kcal_per_mol, 2e-4);
    }
    if (expected.molecules != 6) continue;
    const auto prism =
        std::find_if(found.minima.begin(), found.minima.end(), [](const FoundMinimum& m) {
          return std::abs(m.energy_kcal_per_mol - kPrism_kcal_per_mol) < 1e-6;
        });
    ASSERT_NE(prism, found.minima.end());
    EXPECT_NEAR(zero_point(model, prism->positions_A), kPrismZeroPoint_kcal_per_mol, 2e-4);
  }
}

}  // namespace
}  // namespace tarn
