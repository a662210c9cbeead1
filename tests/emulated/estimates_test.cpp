#include "estimates.hpp"

#include "tarn/core/number.hpp"
#include "water_fixtures.hpp"

/// @file
/// The emulated reciprocal roots have the intended errors.

namespace tarn {
namespace {

TEST(Estimates, AreAsWrongAsAGpuMayBe) {
  test::Random random(1);
  long double most = 0, least = 0, most_double = 0, refined = 0;
  for (int k = 0; k < 100'000; ++k) {
    const double a = std::exp2(random.uniform(-30.0, 30.0));
    const auto b = static_cast<float>(a);
    const long double y = approximate_rsqrt(b),
                      error = y * std::sqrt(static_cast<long double>(b)) - 1;
    EXPECT_EQ(y, approximate_rsqrt(b));
    most = std::fmax(most, error);
    least = std::fmin(least, error);
    const long double root = std::sqrt(static_cast<long double>(a));
    most_double = std::fmax(most_double, std::fabs(approximate_rsqrt(a) * root - 1));
    refined = std::fmax(refined, std::fabs(refined_rsqrt(a, approximate_rsqrt(a)) * root - 1));
  }
  const double bound = std::exp2(-22.9);
  EXPECT_LE(most, bound);
  EXPECT_GE(least, -bound);
  // Among so many the largest errors are near the bound, on both sides.
  EXPECT_GT(most, 0.95 * bound);
  EXPECT_LT(least, -0.95 * bound);
  EXPECT_LE(most_double, 0x1p-20 + 0x1p-21);
  EXPECT_GT(most_double, 0x1p-20);
  // One step of third order refines them to the last bit but one.
  EXPECT_LE(refined, 0x1p-52);
}

TEST(Estimates, OfNonSquaresMatchTheInstruction) {
  EXPECT_EQ(approximate_rsqrt(0.0f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(approximate_rsqrt(1e-39f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(approximate_rsqrt(std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_TRUE(std::isnan(approximate_rsqrt(-1.0f)));
  EXPECT_TRUE(std::isnan(approximate_rsqrt(-1.0)));
  EXPECT_TRUE(std::isnan(refined_rsqrt(0.0, approximate_rsqrt(0.0))));
}

}  // namespace
}  // namespace tarn
