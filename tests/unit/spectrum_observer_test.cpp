#include "csv_reader.hpp"
#include "observer_of.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr double kIntervalFs = 4.0;  // 2 steps of 2 fs
constexpr double kBath_K = 100.0;
const std::string kBath =
    "[thermostat]\nkind = \"gla\"\ntemperature_K = 100.0\nfriction_per_ps = 1.0\n";

struct Row {
  double wavenumber_per_cm, states_cm, states_err, absorption, absorption_err;
};

/// Coordinate c of replica r at a time.
using Motion = std::function<double(std::int64_t r, std::size_t c, double time_fs)>;

class SpectrumObserverTest : public ::testing::Test {
 protected:
  Deck deck(int replicas, const std::string& more, const std::string& scheme = "settle") {
    return parse_deck(
        "[system]\nmolecules = 2\nremove_momentum = true\ntemperature_K = 100.0\n"
        "replicas = " +
            std::to_string(replicas) + "\n[integrator]\nscheme = \"" + scheme +
            "\"\ntimestep_fs = 2.0\n[run]\nsteps = 10000\n" + more,
        "test.toml");
  }
  std::unique_ptr<Observer> observer(const Deck& d) { return observer_of(d, folder_.path()); }
  static Frame frame(std::int64_t step, const std::vector<std::int64_t>& ids,
                     const Motion& velocity) {
    Frame f;
    f.step = step;
    f.molecules = 2;
    f.replica_ids = ids;
    for (const std::int64_t id : ids) {
      for (std::size_t c = 0; c < 18; ++c) {
        f.velocities_A_per_akma.push_back(velocity(id, c, 2.0 * static_cast<double>(step)));
      }
    }
    return f;
  }
  std::vector<Row> rows() {
    std::vector<Row> all;
    test::CsvReader csv(folder_.file("spectrum.csv"));
    for (std::vector<std::string_view> cells; csv.next(cells);) {
      all.push_back({csv.number(cells[0]), csv.number(cells[1]), csv.number(cells[2]),
                     csv.number(cells[3]), csv.number(cells[4])});
    }
    return all;
  }
  static double integral(const std::vector<Row>& rows, double Row::*column) {
    double sum = 0.0;
    for (std::size_t k = 1; k < rows.size(); ++k) {
      sum += 0.5 * (rows[k].*column + rows[k - 1].*column) *
             (rows[k].wavenumber_per_cm - rows[k - 1].wavenumber_per_cm);
    }
    return sum;
  }

  ScratchFolder folder_;
};

/// One hydrogen at 1000 1/cm: mass v^2 / kT states there, and the absorption of charge and mass:
/// 42.2561 km/mol for 1 D/A and 1 Da (Neugebauer et al. 2002), in which m v^2 is kT.
TEST_F(SpectrumObserverTest, ALineHasItsPlaceItsStatesAndItsAbsorption) {
  const std::string observe = "[observe.spectrum]\nevery = 2\nresolution_per_cm = 20.0\n";
  constexpr double kAmplitude = 0.1, kLine = 1000.0;
  const Motion hydrogen = [](std::int64_t, std::size_t c, double time_fs) {
    const double cycles = kLine * units::speed_of_light_cm_per_fs * time_fs;
    return c == 5 ? kAmplitude * std::cos(2.0 * units::pi * cycles) : 0.0;
  };
  const double kinetic = units::mass_hydrogen_Da * 0.5 * kAmplitude * kAmplitude;
  const double kT = units::boltzmann_kcal_per_mol_K * kBath_K;
  for (const bool bath : {true, false}) {
    const Deck d = deck(1, (bath ? kBath : "") + observe);
    const auto spectrum = observer(d);
    spectrum->begin();
    for (std::int64_t step = 0; step <= 4000; step += 2) {
      spectrum->observe(frame(step, {0}, hydrogen));
    }
    spectrum->finish();
    const std::vector<Row> all = rows();
    ASSERT_GT(all.size(), 10u);
    // Nyquist's limit; the resolution.
    EXPECT_NEAR(all.back().wavenumber_per_cm,
                1.0 / (2.0 * kIntervalFs * units::speed_of_light_cm_per_fs), 1e-6);
    const double spacing = all[1].wavenumber_per_cm;
    EXPECT_LE(1.44 * spacing, 20.0);
    EXPECT_GT(1.44 * spacing, 0.8 * 20.0);
    std::size_t peak = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k].states_cm > all[peak].states_cm) peak = k;
    }
    EXPECT_NEAR(all[peak].wavenumber_per_cm, kLine, 0.5 * spacing);
    // Of a bath: m v^2 / kT; without one: the 12 - 6 degrees of freedom, whatever moves. A segment
    // of 30 periods of the square: its mean is 1/2 to the window's sidelobe at 60 rows, 1e-5.
    const double states = bath ? kinetic / kT : 6.0;
    EXPECT_NEAR(integral(all, &Row::states_cm), states, 1e-4 * states);
    const double charge_D_per_A =
        find_water_model("tip3p").value().dipole_charge_e() * units::debye_per_e_A;
    const double intensity =
        42.2561 * charge_D_per_A * charge_D_per_A / units::mass_hydrogen_Da * states;
    EXPECT_NEAR(integral(all, &Row::absorption), intensity, 1e-4 * intensity);
    // The table of averages has both, the states only where they are measured.
    const std::vector<AveragedQuantity> averages = spectrum->averages();
    ASSERT_EQ(averages.size(), bath ? 2u : 1u);
    EXPECT_EQ(averages.back().quantity, "absorption_km_per_mol");
    EXPECT_NEAR(averages.back().mean, integral(all, &Row::absorption), 1e-9 * intensity);
    if (bath) {  // sums of the same rows
      EXPECT_NEAR(averages[0].mean, integral(all, &Row::states_cm), 1e-9 * states);
    }
  }
}

/// Replicas of amplitudes 1 .. 4: the first three count, one of them until it stops.
TEST_F(SpectrumObserverTest, AveragesOverTheChosenReplicasAfterEquilibration) {
  Deck d = deck(4, kBath +
                       "[observe.spectrum]\nevery = 2\nresolution_per_cm = 200.0\n"
                       "replicas = 3\n");
  d.run.equilibration_ps = 0.5;  // 250 steps
  const auto spectrum = observer(d);
  spectrum->begin();
  const Motion line = [](std::int64_t r, std::size_t c, double time_fs) {
    const double wild = time_fs < 500.0 ? 1e3 : 1.0;
    // An eighth of the sampling frequency, in the middle of a row of all segments.
    return c == 0 ? wild * static_cast<double>(r + 1) *
                        std::cos(2.0 * units::pi * time_fs / (8.0 * kIntervalFs))
                  : 0.0;
  };
  EXPECT_EQ(spectrum->every(), 250);
  const auto samples =
      static_cast<std::int64_t>(spectrum_samples(*d.spectrum, d.integrator.timestep_fs));
  const auto see = [&](std::int64_t first, std::int64_t n, const std::vector<std::int64_t>& ids) {
    for (std::int64_t i = first; i < first + n; ++i) {
      spectrum->observe(frame(250 + 2 * i, ids, line));
      EXPECT_EQ(spectrum->every(), 2);
    }
  };
  spectrum->observe(frame(0, {0, 1, 2, 3}, line));
  see(0, samples, {0, 1, 2, 3});
  const double unit = units::mass_oxygen_Da * 0.5 / (units::boltzmann_kcal_per_mol_K * kBath_K);
  spectrum->finish();
  EXPECT_NEAR(integral(rows(), &Row::states_cm), unit * (1.0 + 4.0 + 9.0) / 3.0, 1e-6 * unit);
  // Half a segment later, the third one is no longer there for the second segment.
  see(samples, samples / 2, {0, 1, 3});
  spectrum->finish();
  EXPECT_NEAR(integral(rows(), &Row::states_cm), unit * (14.0 + 5.0) / 5.0, 1e-6 * unit);
  EXPECT_EQ(spectrum->averages().front().samples, 5);
}

TEST_F(SpectrumObserverTest, WithoutAWholeSegmentThereAreNoRows) {
  const auto spectrum = observer(deck(1, "[observe.spectrum]\n"));
  spectrum->begin();
  spectrum->observe(frame(0, {0}, [](std::int64_t, std::size_t, double) { return 1.0; }));
  spectrum->finish();
  EXPECT_TRUE(rows().empty());
  EXPECT_TRUE(spectrum->averages().empty());
}

TEST_F(SpectrumObserverTest, MoleculesAtRestHaveNoSpectrum) {
  const auto spectrum =
      observer(deck(1, "[observe.spectrum]\nevery = 2\nresolution_per_cm = 200.0\n"));
  for (std::int64_t step = 0; step <= 400; step += 2) {
    spectrum->observe(frame(step, {0}, [](std::int64_t, std::size_t, double) { return 0.0; }));
  }
  spectrum->finish();
  EXPECT_GT(rows().size(), 10u);
  EXPECT_EQ(integral(rows(), &Row::states_cm), 0.0);
  EXPECT_EQ(integral(rows(), &Row::absorption), 0.0);
}

/// A rigid molecule alone that is at rest has no degrees of freedom to count by.
TEST_F(SpectrumObserverTest, AMoleculeAtRestHasNoSpectrum) {
  Deck d = deck(1, "[observe.spectrum]\nevery = 2\nresolution_per_cm = 200.0\n");
  d.system.molecules = 1;
  d.system.remove_momentum = false;
  d.system.velocities = VelocityKind::zero;
  const auto spectrum = observer(d);
  for (std::int64_t step = 0; step <= 400; step += 2) {
    Frame f = frame(step, {}, {});
    f.molecules = 1;
    f.replica_ids = {0};
    f.velocities_A_per_akma.assign(9, 1e-9);  // round-off
    spectrum->observe(f);
  }
  spectrum->finish();
  EXPECT_EQ(integral(rows(), &Row::states_cm), 0.0);
}

TEST_F(SpectrumObserverTest, PenaltiesHaveNineDegreesOfFreedomAMolecule) {
  const auto spectrum =
      observer(deck(1, "[observe.spectrum]\nevery = 2\nresolution_per_cm = 200.0\n", "zss-stiff"));
  for (std::int64_t step = 0; step <= 400; step += 2) {
    spectrum->observe(frame(step, {0}, [](std::int64_t, std::size_t c, double time_fs) {
      return std::cos(time_fs * static_cast<double>(c));
    }));
  }
  spectrum->finish();
  EXPECT_NEAR(integral(rows(), &Row::states_cm), 12.0, rounding(200, 4, 12.0));
}

}  // namespace
}  // namespace tarn
