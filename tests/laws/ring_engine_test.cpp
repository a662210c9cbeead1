#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ring_fixtures.hpp"
#include "tarn/core/error.hpp"

/// @file
/// Starts of ring polymers, and systems that the engine does not support. Laws and steps are tested
/// on each device, in tests/device.

namespace tarn {
namespace {

using namespace test;

/// A state with other beads: fewer modes are dropped, more are drawn; the centroids stay.
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
