#include "core/elementary.hpp"

#include "core/pack.hpp"
#include "testing.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr int kPoints = 20'000;

/// Calls op(x) for points between two limits, both included.
template <class Op>
void for_points(long double low, long double high, const Op& op) {
  for (int i = 0; i <= kPoints; ++i) op(low + (high - low) * i / kPoints);
}

/// The polynomial has a relative error of 0.25 roundings; its Horner steps add less than four.
TEST(Elementary, ArcTangentIsThatOfTheLibrary) {
  Worst error("log10_double"), float_error("log10_float");
  for_points(-1.0L, 1.0L, [&](long double point) {
    const auto t = static_cast<double>(point);
    if (t == 0.0) return;
    error.see(atan_of_unit_interval(t) / std::atan(static_cast<long double>(t)) - 1.0L);
    const auto f = static_cast<float>(point);
    float_error.see(atan_of_unit_interval(f) / std::atan(static_cast<long double>(f)) - 1.0L);
  });
  error.expect_below(4.0 * kEpsilon);
  float_error.expect_below(4.0 * kFloatEpsilon);
  EXPECT_EQ(atan_of_unit_interval(0.0), 0.0);
}

/// The half angle adds a division, the sum of the cosine and the errors of sine and cosine: four
/// roundings of an angle of at most pi/2, beside those of the polynomial.
TEST(Elementary, AngleIsThatOfItsSineAndCosine) {
  Worst error("log10_error");
  const long double right = std::acos(-1.0L) / 2;
  for_points(-right, right, [&](long double angle) {
    const auto sine = static_cast<double>(std::sin(angle));
    const auto cosine = static_cast<double>(std::cos(angle));
    error.see(angle_of(sine, cosine) - angle);
  });
  error.expect_below(8.0 * kEpsilon * static_cast<double>(right));
  EXPECT_EQ(angle_of(1.0, 0.0), -angle_of(-1.0, 0.0));
  EXPECT_NEAR(angle_of(1.0, 0.0), static_cast<double>(right), 2 * kEpsilon);
}

/// Each of the five doublings, seven below -11, multiplies the relative error of q = exp(x) - 1 by
/// (2 + 2 q)/(2 + q), at most 2, and adds two roundings; q starts with three. Together less than
/// 2^5 (3 + 2) roundings for large q; below q = 1 the factor is 4/3 or less.
TEST(Elementary, ExponentialIsThatOfTheLibrary) {
  Worst small("log10_small"), large("log10_large"), float_error("log10_float");
  for_points(-44.0L, 11.0L, [&](long double point) {
    const auto x = static_cast<double>(point);
    if (x == 0.0) return;
    const long double error = expm1_below_limit(x) / std::expm1(static_cast<long double>(x)) - 1.0L;
    (x < std::log(2.0) ? small : large).see(error, static_cast<long long>(100 * x));
    const auto f = static_cast<float>(point);
    if (f < 0.69f) {
      float_error.see(expm1_below_limit(f) / std::expm1(static_cast<long double>(f)) - 1.0L);
    }
  });
  small.expect_below(20.0 * kEpsilon);
  large.expect_below(160.0 * kEpsilon);
  float_error.expect_below(20.0 * kFloatEpsilon);
  EXPECT_EQ(expm1_below_limit(0.0), 0.0);
  EXPECT_EQ(expm1_below_limit(50.0), expm1_below_limit(11.0));
  EXPECT_EQ(expm1_below_limit(-50.0), -1.0);
  EXPECT_EQ(expm1_below_limit(-50.0f), -1.0f);
}

/// Each lane has the bits of the scalar function.
TEST(Elementary, PacksAreScalars) {
  using P = Pack<double>;
  for (int i = 0; i < 100; ++i) {
    P t, x;
    for (int l = 0; l < P::lanes; ++l) {
      t.v[l] = -1.0 + 0.02 * i + 0.001 * l;
      x.v[l] = -48.0 + 0.6 * i + 0.01 * l;
    }
    const P atan = atan_of_unit_interval(t), expm1 = expm1_below_limit(x);
    for (int l = 0; l < P::lanes; ++l) {
      EXPECT_EQ(atan[l], atan_of_unit_interval(static_cast<double>(t[l])));
      EXPECT_EQ(expm1[l], expm1_below_limit(static_cast<double>(x[l])));
    }
  }
}

}  // namespace
}  // namespace tarn
