#include "kernels/arithmetic_bound.hpp"

#include <gtest/gtest.h>

#include "counting.hpp"
#include "tarn/physics/pair_force.hpp"

namespace tarn {
namespace {

using namespace gpu;

template <bool kMSite>
int counted() {
  using C = test::Counted<double>;
  const Vec3<C> v{C(1.0), C(2.0), C(3.0)};
  SiteForces<C> f_i{v, v, v, v}, f_j = f_i;
  const test::Operations o = test::count([&] {
    add_pair_forces<kMSite>(PairParameters<double>{}, v, SiteOffsets<C>{v, v, v},
                            SiteOffsets<C>{v, v, v}, AllLanes{}, f_i, f_j);
  });
  return o.add + o.multiply + o.fma + o.rsqrt;
}

/// By hand, and by a number that counts. Every pair of sites: a squared length of 3 instructions, a
/// reciprocal root, and 3 on the force of each side. A Coulomb force takes 3 more; that of the
/// oxygens y^2, y^6 (2), 12 A y^6 - 6 C, y^6 times that, and y^2 times it.
TEST(ArithmeticBound, CountsThePairAsByHand) {
  constexpr int kCommon = 3 + 1 + 6, kCoulomb = kCommon + 3, kOxygens = kCommon + 6;
  // Three sites: the charges of the oxygens are one more; vectors from O to H twice, H to O twice,
  // H to H four times.
  const int three = instructions_of_pair(false);
  EXPECT_EQ(three, kOxygens + 1 + 8 * kCoulomb + 3 * (2 + 2 + 4));
  EXPECT_EQ(three, counted<false>());
  // Four: one Coulomb force more; vectors from M to O, M to M, M to H twice, H to O twice, H to M
  // twice, H to H four times.
  const int four = instructions_of_pair(true);
  EXPECT_EQ(four, kOxygens + 9 * kCoulomb + 3 * (1 + 1 + 2 + 2 + 2 + 4));
  EXPECT_EQ(four, counted<true>());
}

/// A device of two multiprocessors, 4 lanes each and 10 cycles a second does 80 instructions.
TEST(ArithmeticBound, SharesAreOfLanesAndClock) {
  EXPECT_DOUBLE_EQ(bound_seconds(2.0, 20, 2, 4, 10.0), 0.5);
  EXPECT_EQ(lanes_of("9.0", true), 128);
  EXPECT_EQ(lanes_of("9.0", false), 64);
  EXPECT_EQ(lanes_of("1.0", true), 0);
  EXPECT_EQ(clock_Hz_of(1980000), 1.98e9);
  EXPECT_EQ(clock_Hz_of(0), 1e9);
}

}  // namespace
}  // namespace tarn
