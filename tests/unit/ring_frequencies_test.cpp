#include "physics/ring_frequencies.hpp"

#include "physics/model_table.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

/// Published wavenumbers of q-TIP4P/F and others, with these masses (docs/models.md), and those of
/// the second derivatives of the energy.
TEST(MoleculeVibrations, AreTheNormalModes) {
  WaterModel model = *find_water_model("qtip4pf");
  model.mass_h_Da = 1.00794;
  const std::array<double, 3> published{1580.17, 3852.84, 3920.46};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(molecule_wavenumbers_per_cm(model)[k], published[k], 0.006);
  }
  for (WaterModel other : kFlexibleWaterModels) {
    for (const double mass_Da : {1.008, 2.014}) {
      other.mass_h_Da = mass_Da;
      const std::vector<double> x = quenched_cluster(other, 1, 1, 0);
      const NormalModes modes = normal_modes(other, x);
      for (std::size_t k = 0; k < 3; ++k) {
        // The quench ends at forces of 1e-8 of those that bend the molecule by a radian.
        EXPECT_NEAR(molecule_wavenumbers_per_cm(other)[k], modes.modes[6 + k].wavenumber_per_cm,
                    1e-4)
            << other.name;
      }
    }
  }
}

/// Against the closed forms, and the series of small x, whose error is that of the next term.
TEST(Oscillator, HasItsClosedForms) {
  for (const double x : {0.3, 0.31, 1.0, 7.0, 30.0, 90.0, 600.0}) {
    const double energy = 0.5 * x / std::tanh(0.5 * x);
    // The polynomial of exp(x) - 1 is good to a few units in the last place.
    EXPECT_NEAR(oscillator_energy(x), energy, 16 * kEpsilon * energy) << x;
    EXPECT_NEAR(oscillator_radius2(x) * x * x, energy - 1.0, 16 * kEpsilon * energy) << x;
    if (x < 100.0) {
      const double ratio = 0.5 * x / std::sinh(0.5 * x);
      // exp(-x) is 1 minus a number that is rounded.
      EXPECT_NEAR(oscillator_heat_capacity(x), ratio * ratio, 64 * kEpsilon * std::max(1.0, x * x))
          << x;
    }
  }
  const auto series = [](double x) { return 1.0 / 12.0 - x * x / 720.0; };
  for (const double x : {0.0, 1e-3, 1e-2}) {
    EXPECT_NEAR(oscillator_radius2(x), series(x), x * x * x * x / 30000.0 + kEpsilon);
    EXPECT_NEAR(oscillator_energy(x), 1.0 + x * x * series(x), 16 * kEpsilon);
  }
  // Both branches meet at 0.3, where the difference from one loses two digits.
  EXPECT_NEAR(oscillator_radius2(0.3 * (1 - kEpsilon)), oscillator_radius2(0.3), 1e-13);
}

/// C = dE/dT at fixed y, with the derivative of fourth order.
TEST(ReducedRing, HeatCapacityIsTheDerivativeOfTheEnergy) {
  for (const int beads : {2, 5, 16, 64}) {
    for (const ReducedRing& ring : {trotter_ring(beads), economised_ring(beads, 40.0)}) {
      for (const double x : {0.1, 3.0, 25.0, 55.0}) {
        // E(T)/k with T in units of the temperature of x.
        const auto energy = [&](double t) { return t * ring.energy(x / t); };
        constexpr double h = 1e-3;
        const double slope =
            (8.0 * (energy(1 + h) - energy(1 - h)) - (energy(1 + 2 * h) - energy(1 - 2 * h))) /
            (12.0 * h);
        // h^4 times derivatives of up to some 100, and rounding of E/h.
        EXPECT_NEAR(ring.heat_capacity(x), slope, 1e-9 * std::max(1.0, ring.energy(x)))
            << beads << " beads, x = " << x;
      }
    }
  }
}

/// Frequencies of springs: the ring of a free particle has R^2 = (1 - 1/P^2)/12.
TEST(ReducedRing, TrotterHasTheRadiusOfAFreeParticle) {
  for (const int beads : {1, 2, 3, 8, 33, 128}) {
    EXPECT_NEAR(trotter_ring(beads).radius2(0.0), (1.0 - 1.0 / (1.0 * beads * beads)) / 12.0,
                1e-15);
  }
}

/// Root mean square of R_P/R - 1 over 0 <= x <= x_max.
double residue(const ReducedRing& ring, double x_max) {
  constexpr int kPoints = 4000;
  double sum = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = x_max * (i + 0.5) / kPoints;
    const double error = std::sqrt(ring.radius2(x) / oscillator_radius2(x)) - 1.0;
    sum += error * error;
  }
  return std::sqrt(sum / kPoints);
}

/// Residues of an independent program; those above 0.05 have several minima.
TEST(EconomisedRing, HasSmallResidues) {
  struct Case {
    int beads;
    double x_max, residue;
  };
  for (const Case& c : {Case{24, 20, 1.43e-3},
                        {32, 20, 1.56e-4},
                        {64, 60, 1.30e-3},
                        {96, 60, 6.6e-5},
                        {100, 50, 6.6e-6}}) {
    const ReducedRing ring = economised_ring(c.beads, c.x_max);
    ASSERT_EQ(ring.frequencies().size(), static_cast<std::size_t>(c.beads / 2));
    EXPECT_LT(residue(ring, c.x_max), 1.05 * c.residue) << c.beads;
    EXPECT_GT(residue(ring, c.x_max), 0.8 * c.residue) << c.beads;
  }
  EXPECT_LT(residue(economised_ring(8, 20.0), 20.0), 1.05 * 0.0873);
  EXPECT_LT(residue(economised_ring(16, 50.0), 50.0), 1.05 * 0.117);
}

/// Any number of beads and any x_max give frequencies in ascending order, the first one close to
/// that of infinitely many beads.
TEST(EconomisedRing, IsFiniteAndSorted) {
  for (const int beads : {1, 2, 3, 4, 5, 7, 16, 33, 100, 256}) {
    for (const double x_max : {0.5, 5.0, 40.0, 400.0}) {
      const std::vector<double> y = economised_ring(beads, x_max).frequencies();
      EXPECT_TRUE(std::ranges::is_sorted(y)) << beads << ", " << x_max;
      for (std::size_t k = 0; k < y.size(); ++k) {
        EXPECT_TRUE(std::isfinite(y[k]) && y[k] > 0.0) << beads << ", " << x_max;
      }
      // The upper modes have one frequency.
      if (beads > 3) {
        EXPECT_EQ(y[y.size() - 1], y[y.size() - 2]);
      }
      if (beads >= 16 && x_max < 0.5 * beads) {
        EXPECT_NEAR(y[0], 2.0 * units::pi, 0.01 * 2.0 * units::pi);
      }
    }
  }
}

/// A run has the frequencies of its lowest temperature at all temperatures, whose errors are
/// smaller; without a thermostat, those of the temperature of its springs.
TEST(EconomisedRing, IsFittedOnceForARun) {
  System system;
  system.path_integral.frequencies = RingFrequencies::economised;
  system.path_integral.highest_wavenumber_per_cm = 4038.0;
  for (const int beads : {8, 16, 24, 32, 40, 64}) {
    system.path_integral.beads = beads;
    system.thermostat.kind = Thermostat::baoab;
    system.thermostat.temperatures_K = {121.0, 100.0, 110.0};
    const ReducedRing ring = reduced_ring(system);
    EXPECT_EQ(ring.frequencies(), reduced_ring(system.path_integral, 100.0).frequencies());
    double last = ring.kinetic_error(reduced_frequency(3920.0, 100.0));
    for (const double t_K : {110.0, 121.0, 200.0}) {
      const double error = ring.kinetic_error(reduced_frequency(3920.0, t_K));
      // The largest error is that of 1024 oscillators.
      EXPECT_LE(error, 1.001 * last) << beads << " beads, " << t_K << " K";
      last = error;
    }
    system.thermostat.temperatures_K.clear();
    system.thermostat.temperature_K = 100.0;
    EXPECT_EQ(reduced_ring(system).frequencies(), ring.frequencies());
    system.thermostat.kind = Thermostat::none;
    system.path_integral.temperature_K = 100.0;
    EXPECT_EQ(reduced_ring(system).frequencies(), ring.frequencies());
  }
}

/// Best fits have frequencies that coincide, and from there to the next ones they jump. The error
/// does not: it grows with x_max by little, and falls with the number of beads.
TEST(EconomisedRing, HasAContinuousError) {
  for (const int beads : {8, 16, 24, 32, 40, 64}) {
    double last = 0.0;
    for (double t_K = 130.0; t_K >= 90.0; t_K -= 0.5) {
      const double x = reduced_frequency(4038.0, t_K);
      const double here = residue(economised_ring(beads, x), x);
      if (last > 0.0) {
        // x_max grows by half a percent at most, the residue with about its tenth power.
        EXPECT_GT(here, last) << beads << " beads, " << t_K << " K";
        EXPECT_LT(here, 1.06 * last) << beads << " beads, " << t_K << " K";
      }
      last = here;
      EXPECT_LT(residue(economised_ring(beads + 2, x), x), here);
    }
  }
}

/// The fit has no operation whose rounding depends on the machine.
TEST(EconomisedRing, HasTheSameBitsEverywhere) {
  const std::vector<double> y = economised_ring(24, 20.0).frequencies();
  EXPECT_EQ(y[0], 6.2083812303028942);
  EXPECT_EQ(y[1], 13.32771833337981);
  EXPECT_EQ(y[11], 30.529057701005481);
  EXPECT_EQ(economised_ring(96, 58.0).frequencies()[40], 119.62347626212517);
}

/// Beads that keep the error of the kinetic energy of vibrations up to 3900/cm below 4 %, 1 % and
/// 0.1 %: numbers of an independent program, which need not be the least.
TEST(Beads, ForAnErrorOfTheKineticEnergy) {
  struct Case {
    double temperature_K, error;
    int economised, trotter;
  };
  constexpr double kHighest_per_cm = 3900.0;
  for (const Case& c : {Case{300, 0.04, 18, 34},
                        {300, 0.01, 22, 69},
                        {300, 0.001, 30, 211},
                        {200, 0.04, 24, 49},
                        {200, 0.01, 32, 101},
                        {200, 0.001, 42, 317},
                        {100, 0.04, 48, 101},
                        {100, 0.01, 60, 200},
                        {100, 0.001, 84, 637}}) {
    SCOPED_TRACE(c.temperature_K);
    SCOPED_TRACE(c.error);
    const double x = reduced_frequency(kHighest_per_cm, c.temperature_K);
    for (const RingFrequencies kind : {RingFrequencies::economised, RingFrequencies::trotter}) {
      PathIntegralSpec rings;
      rings.frequencies = kind;
      rings.highest_wavenumber_per_cm = 4000.0;
      const int published = kind == RingFrequencies::economised ? c.economised : c.trotter;
      rings.beads = published;
      EXPECT_LE(reduced_ring(rings, c.temperature_K).kinetic_error(x), c.error);
      const int found = beads_for_error(rings, c.temperature_K, kHighest_per_cm, c.error);
      EXPECT_NEAR(found, published, 0.05 * published + 1.0);
      rings.beads = found;
      EXPECT_LE(reduced_ring(rings, c.temperature_K).kinetic_error(x), c.error);
      rings.beads -= found > 128 ? 4 : 2;
      EXPECT_GT(reduced_ring(rings, c.temperature_K).kinetic_error(x), c.error);
    }
  }
  PathIntegralSpec rings;
  EXPECT_EQ(beads_for_error(rings, 1.0, kHighest_per_cm, 0.01), 0);
}

}  // namespace
}  // namespace tarn
