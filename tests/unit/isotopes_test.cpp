#include "tarn/physics/isotopes.hpp"

#include <Eigen/Eigenvalues>

#include "tarn/modes.hpp"
#include "tarn/physics/triple.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;

TEST(Isotopes, HaveTheMassesOfTheirAtoms) {
  const auto hdo = isotope_masses_Da("HDO"), t2o17 = isotope_masses_Da("T2O17");
  ASSERT_TRUE(hdo && t2o17);
  EXPECT_EQ(*hdo, (std::array{15.99491461926, 1.00782503190, 2.01410177784}));
  EXPECT_EQ(*t2o17, (std::array{16.99913175595, 3.01604928132, 3.01604928132}));
  EXPECT_EQ((*isotope_masses_Da("H2O18"))[0], 17.99915961214);
  for (const char* name : {"", "H2", "D2O16", "D2O181", "DHO", "h2o", "OH2"}) {
    EXPECT_FALSE(isotope_masses_Da(name)) << name;
  }
  EXPECT_EQ(hydrogen_symbol(1.008), 'H');
  EXPECT_EQ(hydrogen_symbol(2.014), 'D');
  EXPECT_EQ(hydrogen_symbol(3.016), 'T');
}

TEST(Isotopes, OfListsAndOfNumbers) {
  const WaterModel model = tip3p();
  const std::array light{model.mass_o_Da, model.mass_h_Da, model.mass_h_Da};
  const auto d2o = *isotope_masses_Da("D2O"), hdo = *isotope_masses_Da("HDO");
  EXPECT_EQ(isotope_masses_Da({"D2O = 2", "HDO=1"}, model, 4), (std::vector{d2o, d2o, hdo, light}));
  EXPECT_EQ(isotope_masses_Da({"HDO", "D2O"}, model, 2), (std::vector{hdo, d2o}));
  EXPECT_TRUE(isotope_masses_Da({}, model, 2).empty());
  EXPECT_FALSE(isotopes_problem({"D2O=4"}, 4));
  for (const std::vector<std::string>& list :
       {std::vector<std::string>{"D2O"},
        {"D2O=5"},
        {"D2O=0"},
        {"D2O=-1"},
        {"D2O=x"},
        {"D3O=1"},
        {"D2O=9223372036854775807", "HDO=9223372036854775807"}}) {
    EXPECT_TRUE(isotopes_problem(list, 4)) << list[0];
    EXPECT_THROW(isotope_masses_Da(list, model, 4), InputError);
  }
}

/// Wavenumbers of a molecule with harmonic bonds and bend, from the matrices G and F of Wilson,
/// Decius & Cross: G by the table of their appendix.
std::vector<double> wilson_wavenumbers(const WaterModel& model, const std::array<double, 3>& m) {
  const double r = model.r_oh_A, angle = model.angle_hoh_degrees * units::pi / 180.0;
  const double o = 1.0 / m[0], h1 = 1.0 / m[1], h2 = 1.0 / m[2], c = std::cos(angle);
  Eigen::Matrix3d g, f = Eigen::Matrix3d::Zero();
  g(0, 0) = o + h1;
  g(1, 1) = o + h2;
  g(0, 1) = g(1, 0) = o * c;
  g(0, 2) = g(2, 0) = g(1, 2) = g(2, 1) = -o * std::sin(angle) / r;
  g(2, 2) = (h1 + h2 + 2.0 * o * (1.0 - c)) / (r * r);
  const IntramolecularModel& bonds = model.intramolecular;
  f(0, 0) = f(1, 1) = bonds.stretch_stiffness_kcal_per_mol_A2;
  f(2, 2) = bonds.bend_stiffness_kcal_per_mol_rad2;
  std::vector<double> all;
  for (const auto& value : (g * f).eigenvalues()) {
    all.push_back(units::wavenumber_per_cm(std::sqrt(value.real())));
  }
  std::ranges::sort(all);
  return all;
}

TEST(Isotopes, ModesOfAMoleculeAreThoseOfWilson) {
  const WaterModel model = *find_water_model("spcfw");
  std::vector<double> x(9);
  put_molecule(molecule_at_origin(model), x.data(), 0);
  for (const char* name : {"H2O", "HDO", "D2O", "HTO18", "DTO17"}) {
    const auto masses_Da = isotope_masses_Da({name}, model, 1);
    const NormalModes modes =
        normal_modes(model, x, std::numeric_limits<double>::infinity(), masses_Da);
    const std::vector<double> expected = wilson_wavenumbers(model, masses_Da[0]);
    ASSERT_EQ(modes.modes.size(), 9u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(modes.modes[6 + k].wavenumber_per_cm, expected[k], 1e-6) << name;
    }
    double zero_point = 0.0;
    for (const double w : expected) zero_point += 0.5 * units::quantum_kcal_cm_per_mol * w;
    EXPECT_NEAR(modes.zero_point_energy_kcal_per_mol(), zero_point, 1e-8);
  }
}

/// Herzberg: the antisymmetric stretch of XY2 has k (1/m_Y + (1 - cos theta)/m_X).
TEST(Isotopes, AntisymmetricStretchOfHeavyWater) {
  const WaterModel model = *find_water_model("spcfw");
  const auto m = *isotope_masses_Da("D2O");
  const double c = std::cos(model.angle_hoh_degrees * units::pi / 180.0);
  const double k = model.intramolecular.stretch_stiffness_kcal_per_mol_A2;
  const double expected = units::wavenumber_per_cm(std::sqrt(k * (1.0 / m[1] + (1.0 - c) / m[0])));
  const std::vector<double> all = wilson_wavenumbers(model, m);
  EXPECT_TRUE(std::ranges::any_of(all, [&](double w) { return std::fabs(w - expected) < 1e-6; }));
}

/// Translations and rotations of a cluster of isotopes have no stiffness. With the masses of the
/// model the modes are those without isotopes.
TEST(Isotopes, ModesOfAClusterOfEqualMassesAreThoseOfTheModel) {
  const WaterModel model = tip3p();
  std::vector<double> x(63);
  for (std::size_t k = 0; k < 7; ++k) {
    put_molecule(reference_cluster("tip3p-7.xyz")[k], x.data(), k);
  }
  const auto plain = normal_modes(model, x);
  const std::vector<std::array<double, 3>> same(
      7, {model.mass_o_Da, model.mass_h_Da, model.mass_h_Da});
  const auto equal = normal_modes(model, x, std::numeric_limits<double>::infinity(), same);
  const auto mixed = normal_modes(model, x, std::numeric_limits<double>::infinity(),
                                  isotope_masses_Da({"D2O=2", "HDO=2"}, model, 7));
  ASSERT_EQ(plain.modes.size(), equal.modes.size());
  int rigid_body = 0;
  for (std::size_t k = 0; k < plain.modes.size(); ++k) {
    EXPECT_NEAR(plain.modes[k].wavenumber_per_cm, equal.modes[k].wavenumber_per_cm, 1e-6);
    // Heavier hydrogens lower each frequency (Rayleigh); oxygen 16 is lighter than that of the
    // model, by 3e-4.
    EXPECT_LE(mixed.modes[k].wavenumber_per_cm, 1.0003 * plain.modes[k].wavenumber_per_cm + 1e-6);
    rigid_body += mixed.modes[k].wavenumber_per_cm == 0.0;
  }
  EXPECT_EQ(rigid_body, 6);
  EXPECT_GT(plain.zero_point_energy_kcal_per_mol(), mixed.zero_point_energy_kcal_per_mol());
}

}  // namespace
}  // namespace tarn
