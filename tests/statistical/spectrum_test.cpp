#include <Eigen/Eigenvalues>

#include "csv_reader.hpp"
#include "quiet_run.hpp"

/// @file
/// Spectra of runs against closed forms.

namespace tarn {
namespace {

using namespace test;

/// Frequencies of the three bonds of TIP3P at omega = 1, equation (9): the roots of the eigenvalues
/// of J M^-1 J^T, written down here for a molecule in the plane.
std::array<double, 3> bond_frequencies() {
  const WaterModel model = find_water_model("tip3p").value();
  const double half = 0.5 * model.angle_hoh_degrees * units::pi / 180.0;
  const Eigen::Vector2d arm(model.r_oh_A * std::sin(half), model.r_oh_A * std::cos(half));
  Eigen::Matrix<double, 3, 6> j = Eigen::Matrix<double, 3, 6>::Zero();  // O, H1, H2
  const auto bond = [&](int c, int from, int to, const Eigen::Vector2d& d) {
    j.block<1, 2>(c, 2 * from) = -2.0 * d.transpose();
    j.block<1, 2>(c, 2 * to) = 2.0 * d.transpose();
  };
  bond(0, 0, 1, arm);
  bond(1, 0, 2, {-arm.x(), arm.y()});
  bond(2, 1, 2, {-2.0 * arm.x(), 0.0});
  Eigen::Matrix<double, 6, 1> inverse;
  inverse << 1.0 / model.mass_o_Da, 1.0 / model.mass_o_Da, 1.0 / model.mass_h_Da,
      1.0 / model.mass_h_Da, 1.0 / model.mass_h_Da, 1.0 / model.mass_h_Da;
  const Eigen::Matrix3d s = j * inverse.asDiagonal() * j.transpose();
  const Eigen::Vector3d squares = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(s).eigenvalues();
  return {std::sqrt(squares[0]), std::sqrt(squares[1]), std::sqrt(squares[2])};
}

/// A row between which and the next one lies a line: Hann's window gives their amplitudes the ratio
/// (1 + d)/(2 - d), where d is how far it is from the first.
double line_between(double x, double spacing, double power, double next) {
  const double ratio = std::sqrt(next / power);
  return x + spacing * (2.0 * ratio - 1.0) / (1.0 + ratio);
}

/// A lone molecule near 0 K: three lines, where sin(theta/2) = Omega' h/2 turns by theta a step,
/// with Omega'^2 = Omega^2 / (1 + b h^2 Omega^2) for Z&Ss and Omega for Verlet.
TEST(Spectrum, OfALoneMoleculeIsThreeLinesWhereTheStepHasThem) {
  // To half of the last decimal.
  EXPECT_NEAR(bond_frequencies()[0], 1.1625, 5e-5);
  EXPECT_NEAR(bond_frequencies()[1], 1.9805, 5e-5);
  EXPECT_NEAR(bond_frequencies()[2], 4.5438, 5e-5);
  struct Case {
    const char* scheme;
    double omega, timestep_fs;
  };
  for (const Case& c : {Case{"zss-stiff", 20.0, 0.05}, Case{"zss-stiff", 100.0, 0.1},
                        Case{"zss-stiff", 100.0, 2.0}, Case{"verlet", 20.0, 0.5}}) {
    SCOPED_TRACE(fmt::format("{} {} {}", c.scheme, c.omega, c.timestep_fs));
    const ScratchFolder folder;
    const double limit_per_cm = 0.5 / (units::speed_of_light_cm_per_fs * c.timestep_fs);
    const Deck deck = parse_deck(
        fmt::format("[system]\nmolecules = 1\ntemperature_K = 1e-3\n[integrator]\n"
                    "scheme = \"{}\"\nomega = {}\ntimestep_fs = {}\n[run]\nsteps = 12000\n"
                    "[observe.spectrum]\nresolution_per_cm = {}\n",
                    c.scheme, c.omega, c.timestep_fs, limit_per_cm / 2000.0),
        "lone.toml");
    run_deck(deck, quiet_run(folder.file("out"), 1));
    std::vector<double> x, power;
    test::CsvReader csv(folder.file("out/spectrum.csv"));
    for (std::vector<std::string_view> cells; csv.next(cells);) {
      x.push_back(csv.number(cells[0]));
      power.push_back(csv.number(cells[1]));
    }
    const double h = units::akma_from_fs(c.timestep_fs);
    const double b = std::string(c.scheme) == "verlet" ? 0.0 : deck.integrator.beta;
    const double highest = *std::max_element(power.begin(), power.end());
    for (const double unit : bond_frequencies()) {
      const double omega_h = c.omega * unit * h;
      const double theta = 2.0 * std::asin(0.5 * omega_h / std::sqrt(1.0 + b * omega_h * omega_h));
      const double expected = theta / units::pi * limit_per_cm;
      const auto k = static_cast<std::size_t>(expected / x[1]);
      // It stands out between the rows beside it, and its rows tell its place. The tails of other
      // lines and of the mirror image fall as the third power of their distance in rows, 100 and
      // more; the segment's rounding to floats is less.
      EXPECT_GT(power[k] + power[k + 1], 1e4 * (power[k - 4] + power[k + 5]));
      EXPECT_GT(power[k] + power[k + 1], 1e-5 * highest);
      EXPECT_NEAR(line_between(x[k], x[1], power[k], power[k + 1]), expected, 0.01 * x[1]);
    }
  }
}

/// In a bath each degree of freedom that moves has kT/2: 6 a molecule, or 9.
TEST(Spectrum, CountsTheDegreesOfFreedom) {
  for (const bool rigid : {true, false}) {
    const ScratchFolder folder;
    const Deck deck = parse_deck(
        fmt::format("[system]\nmolecules = 3\nreplicas = 32\nseed = 5\n[integrator]\n"
                    "scheme = \"{}\"\ntimestep_fs = 1.0\n"
                    "[thermostat]\nkind = \"gla\"\ntemperature_K = 50.0\nfriction_per_ps = 5.0\n"
                    "[run]\nduration_ps = 25.0\nequilibration_ps = 5.0\n"
                    "[observe.spectrum]\nevery = 4\nresolution_per_cm = 50.0\n",
                    rigid ? "settle" : "zss-stiff"),
        "count.toml");
    const RunResult result = run_deck(deck, quiet_run(folder.file("out"), 2));
    ASSERT_FALSE(result.averages.empty());
    const AveragedQuantity& states = result.averages.front();
    EXPECT_EQ(states.quantity, "states");
    EXPECT_TRUE(states.converged);
    const double expected = rigid ? 18.0 : 27.0;
    EXPECT_NEAR(states.mean, expected, 4.5 * states.error);
    // n degrees of freedom for t ps, which forget in about 1/(2 friction) = 0.1 ps.
    const double known = expected * std::sqrt(2.0 / (expected * 32.0 * 20.0 / 0.2));
    EXPECT_GT(states.error, 0.3 * known);
    EXPECT_LT(states.error, 3.0 * known);
  }
}

/// The velocities at whole steps have all of kT in each mode with GLA, and 1 - h^2 Omega^2 / 4 of
/// it with BAOAB, which is right in the positions instead.
TEST(Spectrum, CountsAModeLessWithBaoab) {
  constexpr double kTimestep_fs = 0.5, kOmega = 20.0;
  for (const char* kind : {"gla", "baoab"}) {
    const ScratchFolder folder;
    const Deck deck = parse_deck(
        fmt::format("[system]\nmolecules = 1\nreplicas = 32\nseed = 2\n[integrator]\n"
                    "scheme = \"verlet\"\nomega = {}\ntimestep_fs = {}\n"
                    "[thermostat]\nkind = \"{}\"\ntemperature_K = 1.0\nfriction_per_ps = 50.0\n"
                    "[run]\nduration_ps = 22.0\nequilibration_ps = 2.0\n"
                    "[observe.spectrum]\nresolution_per_cm = 100.0\n",
                    kOmega, kTimestep_fs, kind),
        "count.toml");
    const RunResult result = run_deck(deck, quiet_run(folder.file("out"), 2));
    const AveragedQuantity& states = result.averages.at(0);
    double less = 0.0;
    for (const double unit : bond_frequencies()) {
      const double omega_h = kOmega * unit * units::akma_from_fs(kTimestep_fs);
      less += 0.25 * omega_h * omega_h;
    }
    EXPECT_NEAR(states.mean, 9.0 - (deck.thermostat.kind == Thermostat::baoab ? less : 0.0),
                4.5 * states.error);
    EXPECT_LT(4.5 * states.error, less);  // the two are told apart
  }
}

/// A free molecule in a bath: its translation is a Lorentzian of the friction about zero.
TEST(Spectrum, OfAFreeMoleculeInABathIsTheLorentzianOfItsFriction) {
  const ScratchFolder folder;
  constexpr double kFriction_per_ps = 10.0;
  const Deck deck = parse_deck(
      "[system]\nmolecules = 1\nreplicas = 64\nseed = 3\n[integrator]\nscheme = \"settle\"\n"
      "timestep_fs = 2.0\n[thermostat]\nkind = \"gla\"\ntemperature_K = 1e-6\n"
      "friction_per_ps = 10.0\n[run]\nduration_ps = 205.0\nequilibration_ps = 5.0\n"
      "[observe.spectrum]\nevery = 5\nresolution_per_cm = 10.0\n",
      "free.toml");
  run_deck(deck, quiet_run(folder.file("out"), 2));
  test::CsvReader csv(folder.file("out/spectrum.csv"));
  int rows = 0;
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    const double x = csv.number(cells[0]);
    if (x > 300.0) break;
    // Cold as it is, the molecule does not turn far: six times the same line, 2 Gamma / (Gamma^2 +
    // omega^2) / pi over angular frequencies.
    const double omega = 2.0 * units::pi * units::speed_of_light_cm_per_fs * 1e3 * x;
    const double per_cm = 2.0 * units::pi * units::speed_of_light_cm_per_fs * 1e3;
    const double expected = 6.0 * per_cm * 2.0 * kFriction_per_ps / units::pi /
                            (kFriction_per_ps * kFriction_per_ps + omega * omega);
    const double error = csv.number(cells[2]);
    // Folding adds (Gamma^2 + omega^2) dt^2 / 12 of it; the window smooths half of 1/3 of a squared
    // row by the second derivative, 2 (6.9/53)^2 / 6 = 0.6 % at zero.
    const double folded = (kFriction_per_ps * kFriction_per_ps + omega * omega) * 1e-4 / 12.0;
    EXPECT_NEAR(csv.number(cells[1]), expected * (1.0 + folded), 4.5 * error + 0.006 * expected)
        << x;
    EXPECT_LT(error, 0.1 * expected);
    ++rows;
  }
  EXPECT_GT(rows, 40);
}

}  // namespace
}  // namespace tarn
