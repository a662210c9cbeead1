#include "analysis/isomers.hpp"
#include "io/xyz.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;
using analysis::point_group;
using analysis::PointGroup;
using analysis::symmetry_order;

constexpr std::array kBoth{Statistics::quantum, Statistics::classical};

std::vector<double> positions_of_cube(const std::string& of) {
  const std::string folder = std::string(TARN_SOURCE_DIR) + "/inputs/structures/";
  return io::XyzReader(folder + of + "-8.xyz").next()->positions_A;
}

struct Minimum {
  std::vector<double> x;
  NormalModes modes;
  RigidRotor rotor;
  PointGroup group;
};
/// The minimum of a model next to that of tip3p or tip4p, whose cubes are D2d and S4.
Minimum cube(const WaterModel& model, const std::string& of) {
  Minimum m;
  m.x = positions_of_cube(of);
  make_rigid(model, m.x, of);
  ForceField force_field(model, 8);
  MinimiseOptions options;
  options.tolerance_kcal_per_mol_A = 1e-8;
  EXPECT_TRUE(quench(force_field, m.x, options).converged);
  m.modes = normal_modes(model, m.x);
  m.rotor = rigid_rotor(model, m.x);
  m.group = point_group(m.x);
  return m;
}

// Of a molecule in a plane with its C2 axis b, in closed form: h/(8 pi^2) is 505379 MHz Da A^2
// (CODATA 2018, six digits).
TEST(RigidRotor, OfAMolecule) {
  const WaterModel model = tip3p();
  const std::vector<double> x = random_cluster(model, 1, 1, 0);
  const RigidRotor rotor = rigid_rotor(model, x);
  const double half = 0.5 * model.angle_hoh_degrees * std::numbers::pi / 180.0;
  const double height = model.r_oh_A * std::cos(half), across = model.r_oh_A * std::sin(half);
  const double m_h = model.mass_h_Da, m_o = model.mass_o_Da;
  const double i_a = 2.0 * m_h * m_o / (m_o + 2.0 * m_h) * height * height;
  const double i_b = 2.0 * m_h * across * across;
  const std::array<double, 3> inertia{i_a, i_b, i_a + i_b};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(rotor.constants_MHz[k] * inertia[k], 505379.0, 0.6);
  }
  EXPECT_NEAR(rotor.dipole_D[1], 2.0 * model.dipole_charge_e() * height * units::debye_per_e_A,
              few_roundings(3.0));
  EXPECT_NEAR(rotor.dipole_D[0], 0.0, few_roundings(30.0));
  EXPECT_NEAR(rotor.dipole_D[2], 0.0, few_roundings(30.0));
}

// The rotational entropy of water vapour at 298.15 K is 43.7 J/mol/K, from its spectrum. TIP3P has
// the shape of the free molecule.
TEST(HarmonicState, OfAMoleculeIsThatOfWaterVapour) {
  const WaterModel model = tip3p();
  const std::vector<double> x = random_cluster(model, 1, 1, 0);
  const HarmonicState s = harmonic_state(normal_modes(model, x), rigid_rotor(model, x),
                                         point_group(x).rotations, 298.15, Statistics::quantum);
  EXPECT_NEAR(4.184 * s.entropy_cal_per_mol_K, 43.7, 0.1);
  EXPECT_NEAR(s.heat_capacity_cal_per_mol_K, 1500.0 * units::boltzmann_kcal_per_mol_K,
              few_roundings(3.0));
}

// C = dE/dT and S = -dF/dT, by differences of second order in steps of h = 1e-4 T. Their error is
// h^2/6 C'' and h^2/6 S'', which is below 0.19 (h/T)^2 k a mode at all temperatures, and the
// rounding of energies of -70 kcal/mol over 2 h.
TEST(HarmonicState, KeepsTheLawsOfThermodynamics) {
  const Minimum m = cube(tip3p(), "tip3p");
  for (const Statistics statistics : kBoth) {
    for (const double t_K : {1.0, 30.0, 100.0, 300.0, 3000.0}) {
      const auto at = [&](double temperature_K) {
        return harmonic_state(m.modes, m.rotor, m.group.rotations, temperature_K, statistics);
      };
      const double step = 1e-4 * t_K;
      const HarmonicState low = at(t_K - step), here = at(t_K), high = at(t_K + step);
      const double size = 1000.0 * units::boltzmann_kcal_per_mol_K * 48.0;
      const double error = 0.19e-8 * size + 1000.0 * few_roundings(70.0) / step;
      EXPECT_NEAR(1000.0 * (high.energy_kcal_per_mol - low.energy_kcal_per_mol) / (2.0 * step),
                  here.heat_capacity_cal_per_mol_K, error);
      EXPECT_NEAR(
          -1000.0 * (high.free_energy_kcal_per_mol - low.free_energy_kcal_per_mol) / (2.0 * step),
          here.entropy_cal_per_mol_K, error);
    }
  }
}

// Cold, modes keep half a quantum each and take no heat; hot, they have kT, less x^2/12 of it.
TEST(HarmonicState, HasItsLimits) {
  const Minimum m = cube(*find_water_model("tip4p"), "tip4p");
  const auto at = [&](double t_K, Statistics statistics) {
    return harmonic_state(m.modes, m.rotor, m.group.rotations, t_K, statistics);
  };
  const double k = units::boltzmann_kcal_per_mol_K;
  const HarmonicState cold = at(1.0, Statistics::quantum);
  const double lowest_x = units::quantum_kcal_cm_per_mol * m.modes.lowest_per_cm() / k;
  ASSERT_GT(lowest_x, 50.0);  // e^-50 is below rounding
  EXPECT_NEAR(cold.energy_kcal_per_mol,
              m.modes.energy_kcal_per_mol + m.modes.zero_point_energy_kcal_per_mol() + 1.5 * k,
              few_roundings(70.0));
  EXPECT_NEAR(cold.heat_capacity_cal_per_mol_K, 1500.0 * k, few_roundings(3.0));
  const double hot_K = 1e5;
  double square = 0.0;
  for (const NormalMode& mode : m.modes.modes) {
    const double x = units::quantum_kcal_cm_per_mol * mode.wavenumber_per_cm / (k * hot_K);
    square += x * x;
  }
  const HarmonicState hot = at(hot_K, Statistics::quantum);
  const HarmonicState classical = at(hot_K, Statistics::classical);
  EXPECT_NEAR(classical.heat_capacity_cal_per_mol_K, 1000.0 * k * (1.5 + 42.0),
              few_roundings(100.0));
  // The next term of the series is x^4/240, and x is at most 0.014 here.
  EXPECT_NEAR(hot.heat_capacity_cal_per_mol_K,
              classical.heat_capacity_cal_per_mol_K - 1000.0 * k * square / 12.0, 1e-6);
}

// Equation (62), for two isomers that have mirror images: with the order of the group for both the
// symmetry number and these.
TEST(HarmonicState, OfClassicalIsomersHasTheSharesOfTheSuperposition) {
  const WaterModel model = tip3p();
  const Minimum a = cube(model, "tip3p"), b = cube(model, "tip4p");
  ASSERT_EQ(a.group.order, 8);
  ASSERT_EQ(b.group.order, 4);
  const double t_K = 90.0, kT = units::boltzmann_kcal_per_mol_K * t_K;
  const auto log_share = [&](const Minimum& m) {
    double log = -std::log(m.group.order) - m.modes.energy_kcal_per_mol / kT;
    for (const double constant : m.rotor.constants_MHz) log -= 0.5 * std::log(constant);
    for (const NormalMode& mode : m.modes.modes) {
      if (mode.wavenumber_per_cm > 0.0) log -= std::log(mode.wavenumber_per_cm);
    }
    return log;
  };
  const auto by_free_energy = [&](const Minimum& m) {
    return -harmonic_state(m.modes, m.rotor, m.group.rotations, t_K, Statistics::classical)
                .free_energy_kcal_per_mol /
           kT;
  };
  EXPECT_NEAR(by_free_energy(a) - by_free_energy(b), log_share(a) - log_share(b),
              few_roundings(1000.0));
}

TEST(HarmonicState, RejectsStructuresWithoutHarmonicState) {
  Minimum m = cube(tip3p(), "tip3p");
  for (const double t_K : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(harmonic_state(m.modes, m.rotor, 4, t_K, Statistics::quantum), InputError);
  }
  m.modes.modes[0].wavenumber_per_cm = -30.0;
  EXPECT_THROW(harmonic_state(m.modes, m.rotor, 4, 100.0, Statistics::quantum), InputError);
  m.modes.modes[0].wavenumber_per_cm = 30.0;
  m.modes.max_gradient_kcal_per_mol_A = 0.1;
  EXPECT_THROW(harmonic_state(m.modes, m.rotor, 4, 100.0, Statistics::quantum), InputError);
}

TEST(RigidRotor, DipoleIsThatOfTheCluster) {
  const Minimum m = cube(*find_water_model("tip4p"), "tip4p");
  const auto& d = m.rotor.dipole_D;
  EXPECT_NEAR(std::hypot(d[0], d[1], d[2]),
              analysis::cluster_dipole(m.x, find_water_model("tip4p")->dipole_charge_e()).cluster_D,
              few_roundings(100.0));
  EXPECT_TRUE(std::is_sorted(m.rotor.constants_MHz.rbegin(), m.rotor.constants_MHz.rend()));
}

// --- symmetry ---

/// Atoms O, H, H of a molecule in the plane y z.
const std::vector<double> kWater{0, 0, 0, 0, 0.76, 0.59, 0, -0.76, 0.59};

/// n copies of a molecule, rotated about z.
std::vector<double> ring(int n, const std::vector<double>& molecule) {
  std::vector<double> positions;
  for (int i = 0; i < n; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / n;
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::size_t k = 0; k < 9; k += 3) {
      const double x = molecule[k] + 3.0, y = molecule[k + 1], z = molecule[k + 2];
      positions.insert(positions.end(), {c * x - s * y, s * x + c * y, z});
    }
  }
  return positions;
}

TEST(SymmetryOrder, OfOneMolecule) {
  EXPECT_EQ(symmetry_order(kWater), 4);  // C2v
  std::vector<double> skew = kWater;
  skew[4] += 0.1;
  EXPECT_EQ(symmetry_order(skew), 2);  // Cs: the plane of the molecule
}

TEST(SymmetryOrder, OfRings) {
  // Molecules upright in the planes of the axis and themselves: Cnv; twisted: Cn.
  const std::vector<double> upright{0, 0, 0, 0.76, 0, 0.59, -0.76, 0, 0.59};
  const std::vector<double> flat{0, 0, 0, 0.7, 0.3, 0, -0.2, 0.9, 0};
  const std::vector<double> twisted{0, 0, 0, 0.7, 0.3, 0.1, -0.2, 0.8, 0.5};
  for (const int n : {2, 3, 4, 5, 8}) {
    EXPECT_EQ(symmetry_order(ring(n, upright)), 2 * n);  // Cnv
    EXPECT_EQ(symmetry_order(ring(n, flat)), 2 * n);     // Cnh
    EXPECT_EQ(symmetry_order(ring(n, twisted)), n);      // Cn
    for (const auto& molecule : {upright, flat, twisted}) {
      EXPECT_EQ(point_group(ring(n, molecule)).rotations, n);
    }
  }
}

TEST(SymmetryOrder, DoesNotDependOnPlaceOrOrder) {
  std::vector<double> x = ring(4, {0, 0, 0, 0.7, 0.3, 0.1, -0.2, 0.8, 0.5});
  for (std::size_t k = 0; k < x.size(); k += 3) {
    // A rotation by 3, 4, 5 about x, and a shift.
    const double y = 0.6 * x[k + 1] - 0.8 * x[k + 2], z = 0.8 * x[k + 1] + 0.6 * x[k + 2];
    x[k] += 17.0;
    x[k + 1] = y - 5.0;
    x[k + 2] = z;
  }
  EXPECT_EQ(symmetry_order(x), 4);
  std::rotate(x.begin(), x.begin() + 18, x.end());
  EXPECT_EQ(symmetry_order(x), 4);
  x[0] += 0.05;
  EXPECT_EQ(symmetry_order(x), 1);
}

/// The lowest minimum of eight molecules of TIP4P is the cube S4, of TIP3P the cube D2d.
TEST(SymmetryOrder, OfTheCubes) {
  for (const auto& [of, order] : {std::pair("tip4p", 4), {"tip3p", 8}}) {
    EXPECT_EQ(symmetry_order(positions_of_cube(of)), order);
    EXPECT_EQ(point_group(positions_of_cube(of)).rotations, order / 2);
  }
}

}  // namespace
}  // namespace tarn
