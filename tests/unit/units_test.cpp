#include "tarn/core/units.hpp"

#include "testing.hpp"

namespace tarn::units {
namespace {

// The SI and CODATA 2018 values that the constants stand for.
constexpr double kDalton_kg = 1.66053906660e-27;
constexpr double kAvogadro = 6.02214076e23;
constexpr double kBoltzmann_J_per_K = 1.380649e-23;
constexpr double kCharge_C = 1.602176634e-19;
constexpr double kVacuum_F_per_m = 8.8541878128e-12;
constexpr double kCalorie_J = 4.184;

/// kcal/mol in joules.
constexpr double kEnergy_J = 1e3 * kCalorie_J / kAvogadro;

// The time unit is sqrt(Da A^2/(kcal/mol)); it is written with seven digits.
TEST(Units, TimeUnitFollowsFromTheOthers) {
  const double seconds = std::sqrt(kDalton_kg * 1e-20 / kEnergy_J);
  EXPECT_NEAR(femtoseconds_per_akma, seconds * 1e15, 5e-6);
  EXPECT_DOUBLE_EQ(picoseconds_per_akma * 1000.0, femtoseconds_per_akma);
}

// Eight digits of CODATA 2010; the exact value of 2019 is 8e-8 larger.
TEST(Units, BoltzmannConstant) {
  EXPECT_NEAR(boltzmann_kcal_per_mol_K / (kBoltzmann_J_per_K / kEnergy_J), 1.0, 1e-7);
}

// Seven digits: the value that goes with the water models, 332.0637.
TEST(Units, CoulombConstant) {
  const double joule_metre = kCharge_C * kCharge_C / (4.0 * M_PI * kVacuum_F_per_m);
  EXPECT_NEAR(coulomb_kcal_A_per_mol_e2, joule_metre * 1e10 / kEnergy_J, 5e-5);
}

// hbar/(m_e c alpha), of ten digits each.
TEST(Units, BohrRadius) {
  const double metre =
      6.62607015e-34 / (2.0 * M_PI) / (9.1093837015e-31 * 299792458.0) * 137.035999084;
  EXPECT_NEAR(angstrom_per_bohr / (metre * 1e10), 1.0, 1e-9);
}

TEST(Units, ConversionsAreInverses) {
  EXPECT_DOUBLE_EQ(akma_from_fs(femtoseconds_per_akma), 1.0);
  for (double time_ps : {1e-4, 0.5, 2e4}) {
    EXPECT_DOUBLE_EQ(ps_from_akma(akma_from_fs(1000.0 * time_ps)), time_ps);
    // A rate times a time has no unit.
    EXPECT_DOUBLE_EQ(per_akma_from_per_ps(3.0) * akma_from_fs(1000.0 * time_ps), 3.0 * time_ps);
  }
}

// The parameters that Tao & Owhadi print are in these units: a step of 0.05 is 2.44 fs, a
// temperature of 1/50 is 10.06 K.
TEST(Units, ThePaperUsesThem) {
  EXPECT_NEAR(ps_from_akma(0.05) * 1e3, 2.44, 0.005);
  EXPECT_NEAR(1.0 / 50.0 / boltzmann_kcal_per_mol_K, 10.06, 0.005);
}

// CODATA 2018: the inverse metre is 1.986445857e-25 J; sqrt(kcal/mol/A^2/Da) is 108.5914 1/cm from
// these constants.
TEST(Units, Wavenumbers) {
  EXPECT_NEAR(quantum_kcal_cm_per_mol / (1.986445857e-23 / kEnergy_J), 1.0, 1e-9);
  const double hertz = std::sqrt(kEnergy_J / (kDalton_kg * 1e-20)) / (2.0 * M_PI);
  // The time unit has seven digits.
  EXPECT_NEAR(wavenumber_per_cm(1.0) / (hertz / 29979245800.0), 1.0, 1e-7);
  EXPECT_NEAR(wavenumber_per_cm(1.0), 108.5914, 5e-5);
}

TEST(Units, Masses) {
  EXPECT_EQ(mass_hydrogen_Da, 1.008);
  EXPECT_EQ(mass_oxygen_Da, 15.9994);
  EXPECT_EQ(pi, M_PI);
}

}  // namespace
}  // namespace tarn::units
