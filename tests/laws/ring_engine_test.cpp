#include "ring_fixtures.hpp"

/// @file
/// Starts of ring polymers, and systems that the engine does not support. Laws and steps are tested
/// on each device, in tests/device.

namespace tarn {
namespace {

using namespace test;

/// A state with other beads: modes that they do not have are added to others, more are drawn; the
/// centroids stay.
TEST(RingStarts, BeadsMayChange) {
  const System eight = ring_system(8, Bath::baoab, 2), more = ring_system(16, Bath::baoab, 2),
               fewer = ring_system(3, Bath::baoab, 2);
  const auto engine = make_cpu_engine(eight, ring_start(eight, {0, 1}), {}, 1);
  engine->advance(50);
  const State source = engine->state();
  const State centroids = start::centroids_of(source);
  for (const System& system : {more, fewer, eight}) {
    const State s = start::rings_of(system, centroids, &source, true, true);
    EXPECT_EQ(s.beads, system.path_integral.beads);
    const State back = start::centroids_of(s);
    for (std::size_t k = 0; k < back.positions_A.size(); ++k) {
      EXPECT_NEAR(back.positions_A[k], centroids.positions_A[k], 1e-13);
    }
    EXPECT_NO_THROW(make_cpu_engine(system, s, {}, 1)->advance(10));
  }
  EXPECT_EQ(start::rings_of(eight, centroids, &source, true, true).positions_A, source.positions_A);
}

/// A ring polymer with other beads or frequencies has the radius of gyration of its source: modes
/// of oscillators from their exact distributions, soft and stiff ones.
TEST(RingStarts, KeepTheRadiusOfGyration) {
  constexpr double kTemperature_K = 100.0;
  constexpr int kMolecules = 400;
  struct Case {
    int from, to;
    RingFrequencies kind;
  };
  for (const Case& c : {Case{16, 8, RingFrequencies::economised},
                        {16, 8, RingFrequencies::trotter},
                        {32, 24, RingFrequencies::economised},
                        {33, 2, RingFrequencies::economised},
                        {9, 16, RingFrequencies::economised},
                        {64, 31, RingFrequencies::trotter}}) {
    System source = ring_system(c.from, Bath::baoab, kMolecules);
    source.thermostat.temperature_K = kTemperature_K;
    source.path_integral.frequencies = c.kind;
    source.path_integral.highest_wavenumber_per_cm = 4038.0;
    System system = source;
    system.path_integral.beads = c.to;
    for (const double wavenumber_per_cm : {300.0, 3900.0}) {
      SCOPED_TRACE(fmt::format("{} to {} beads, {}/cm", c.from, c.to, wavenumber_per_cm));
      const double omega = wavenumber_per_cm / units::wavenumber_per_cm(1.0);
      State rings;
      rings.molecules = kMolecules;
      rings.beads = c.from;
      rings.replica_ids = {0};
      const std::vector<RingMode> modes = ring_modes(source, kTemperature_K);
      std::mt19937_64 random(5);
      std::normal_distribution<double> normal;
      double variance = 0.0;  // sum over the internal modes
      for (std::size_t mode = 0; mode < modes.size(); ++mode) {
        const double s = c.from / (modes[mode].spring + omega * omega);
        if (mode > 0) variance += s;
        for (std::size_t k = 0; k < rings.coordinates(); ++k) {
          rings.positions_A.push_back(std::sqrt(s) * normal(random));
        }
      }
      rings.velocities_A_per_akma.assign(rings.positions_A.size(), 0.0);
      const State s = start::rings_of(system, start::centroids_of(rings), &rings, true, false);
      double sum = 0.0;
      for (std::size_t k = s.coordinates(); k < s.positions_A.size(); ++k) {
        sum += s.positions_A[k] * s.positions_A[k];
      }
      const double count = static_cast<double>(s.coordinates());
      // The sum of squared variances of independent modes is at most the square of their sum.
      EXPECT_NEAR(sum / count / c.to, variance / c.from,
                  4.5 * std::sqrt(2.0 / count) * variance / c.from);
    }
  }
}

TEST(RingEngine, RejectsUnsupportedSystems) {
  System rigid = ring_system(4, Bath::baoab);
  const State start = ring_start(rigid, {0});
  rigid.model = tip4p();
  EXPECT_THROW(make_cpu_engine(rigid, start, {}, 1), InputError);
  System zss = ring_system(4, Bath::baoab);
  zss.integrator.scheme = Scheme::zss_stiff;
  EXPECT_THROW(make_cpu_engine(zss, start, {}, 1), InputError);
  System other = ring_system(5, Bath::baoab);
  EXPECT_THROW(make_cpu_engine(other, start, {}, 1), InputError);
  System single = ring_system(4, Bath::baoab, 3, Precision::single);
  EXPECT_THROW(make_cpu_engine(single, start, {}, 1), InputError);
}

}  // namespace
}  // namespace tarn
