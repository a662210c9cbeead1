#include "core/pack.hpp"

#include "core/elementary.hpp"
#include "testing.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using test::kEpsilon;
using test::kFloatEpsilon;
using test::Worst;

/// Equal bits; a NaN equals a NaN.
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

template <class T>
std::array<T, Pack<T>::lanes> lanes_of(const Pack<T>& p) {
  std::array<T, Pack<T>::lanes> r;
  for (int i = 0; i < Pack<T>::lanes; ++i) r[i] = p[i];
  return r;
}

template <class T>
class FloatPack : public ::testing::Test {
 protected:
  static constexpr int kLanes = Pack<T>::lanes;
  std::mt19937_64 engine_{1};

  T number() {
    const double mantissa = static_cast<double>(engine_() >> 11) * 0x1p-52 - 1.0;
    const int exponent = static_cast<int>(engine_() % 41) - 20;
    return static_cast<T>(std::ldexp(mantissa, exponent));
  }
  Pack<T> pack() {
    Pack<T> p;
    for (int i = 0; i < kLanes; ++i) p.v[i] = number();
    return p;
  }
  /// Some numbers that formulas trip over among random ones.
  Pack<T> odd_pack() {
    using Limits = std::numeric_limits<T>;
    const T odd[] = {
        T(0), -T(0),         Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
        T(1), Limits::max(), Limits::min()};
    Pack<T> p;
    for (int i = 0; i < kLanes; ++i) p.v[i] = engine_() % 3 == 0 ? number() : odd[engine_() % 8];
    return p;
  }
};
using FloatTypes = ::testing::Types<double, float>;
TYPED_TEST_SUITE(FloatPack, FloatTypes);

TYPED_TEST(FloatPack, ArithmeticGivesTheBitsOfScalars) {
  using T = TypeParam;
  for (int n = 0; n < 4000; ++n) {
    const auto numbers = [&] { return n % 4 == 0 ? this->odd_pack() : this->pack(); };
    const Pack<T> a = numbers(), b = numbers(), c = numbers();
    const auto check = [&](auto f) {
      const Pack<T> result = f(a, b, c);
      for (int i = 0; i < this->kLanes; ++i) {
        const T scalar = f(a[i], b[i], c[i]);
        ASSERT_TRUE(same(result[i], scalar)) << result[i] << " is not " << scalar;
      }
    };
    check([](auto x, auto y, auto) { return x + y; });
    check([](auto x, auto y, auto) { return x - y; });
    check([](auto x, auto y, auto) { return x * y; });
    check([](auto x, auto y, auto) { return x / y; });
    check([](auto x, auto, auto) { return -x; });
    check([](auto x, auto y, auto z) { return fma(x, y, z); });
    check([](auto x, auto y, auto z) { return fnma(x, y, z); });
    check([](auto x, auto, auto) { return sqrt(x); });
    check([](auto x, auto, auto) { return abs(x); });
    check([](auto x, auto y, auto) { return max(x, y); });
    check([](auto x, auto y, auto) { return min(x, y); });
    check([](auto x, auto y, auto z) { return select(x < y, y, z); });
    check([](auto x, auto y, auto z) { return select(x > y, y, z); });
    check([](auto x, auto y, auto z) { return select(x == y, y, z); });
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Fused means one rounding: (1 + e)(1 - e) - 1 is -e^2 and not 0. Which of the two it is belongs to
// the instruction set; packs and scalars must agree on it.
TYPED_TEST(FloatPack, FusedOrNotIsOneChoice) {
  using T = TypeParam;
  const T e = std::is_same_v<T, double> ? T(0x1p-30) : T(0x1p-13);
  const T scalar = fma(T(1) + e, T(1) - e, T(-1));
  EXPECT_TRUE(scalar == T(0) || scalar == -e * e) << scalar;
  EXPECT_EQ(fma(Pack<T>(T(1) + e), Pack<T>(T(1) - e), Pack<T>(T(-1)))[0], scalar);
  EXPECT_EQ(fnma(T(1) + e, T(1) - e, T(1)), -scalar);
#if defined(__FMA__)
  EXPECT_EQ(scalar, -e * e);
#endif
}

TYPED_TEST(FloatPack, MasksAreLogic) {
  using T = TypeParam;
  for (int n = 0; n < 1000; ++n) {
    const Pack<T> a = this->odd_pack(), b = this->odd_pack();
    const Mask<T> p = a<b, q = a> Pack<T>(T(0));
    const Pack<T> yes(T(1)), no(T(0));
    bool any_p = false;
    for (int i = 0; i < this->kLanes; ++i) {
      const bool pi = a[i]<b[i], qi = a[i]> T(0);
      any_p = any_p || pi;
      ASSERT_EQ(select(p & q, yes, no)[i], T(pi && qi));
      ASSERT_EQ(select(p | q, yes, no)[i], T(pi || qi));
      ASSERT_EQ(select(!p, yes, no)[i], T(!pi));
    }
    ASSERT_EQ(any(p), any_p);
  }
  EXPECT_FALSE(any(Pack<T>(T(1)) < Pack<T>(T(0))));
  for (int i = 0; i < this->kLanes; ++i) {
    Pack<T> one_lane(T(0));
    one_lane.v[i] = T(1);
    EXPECT_TRUE(any(Pack<T>(T(0)) < one_lane)) << "lane " << i;
  }
}

TYPED_TEST(FloatPack, LoadsStoresAndBroadcasts) {
  using T = TypeParam;
  constexpr int n = Pack<T>::lanes;
  static_assert(n * sizeof(T) == kPackBytes);
  alignas(kPackBytes) T from[2 * n];
  alignas(kPackBytes) T to[n];
  for (int i = 0; i < 2 * n; ++i) from[i] = this->number();
  Pack<T>::load(from).store(to);
  const Pack<T> shifted = Pack<T>::load_unaligned(from + 1), same_number(from[0]);
  T anywhere[n + 1];
  shifted.store_unaligned(anywhere + 1);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(to[i], from[i]);
    EXPECT_EQ(shifted[i], from[i + 1]);
    EXPECT_EQ(anywhere[i + 1], from[i + 1]);
    EXPECT_EQ(same_number[i], from[0]);
    EXPECT_EQ(lane_numbers<T>()[i], T(i));
  }
  // Every number is broadcast with its bits.
  for (int k = 0; k < 50; ++k) {
    const T odd = this->odd_pack()[0];
    for (int i = 0; i < n; ++i) EXPECT_TRUE(same(Pack<T>(odd)[i], odd)) << odd;
  }
}

// What is chosen where both are equal, or one is not a number, is the same on scalars and packs.
TEST(MinMax, TakeTheFirstUnlessTheSecondIsBeyondIt) {
  EXPECT_EQ(max(1.0, 2.0), 2.0);
  EXPECT_EQ(min(1.0, 2.0), 1.0);
  EXPECT_EQ(max(2.0f, 1.0f), 2.0f);
  EXPECT_EQ(min(2.0f, 1.0f), 1.0f);
  EXPECT_TRUE(std::signbit(max(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(min(0.0, -0.0)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max(nan, 1.0)));
  EXPECT_EQ(max(1.0, nan), 1.0);
  EXPECT_EQ(abs(-3.0), 3.0);
  EXPECT_EQ(abs(3.0f), 3.0f);
}

/// Error of y as 1/sqrt(a), in units in the last place of the exact value.
template <class T>
long double rsqrt_error_ulp(T a, T y) {
  const long double exact = 1.0L / std::sqrt(static_cast<long double>(a));
  int exponent;
  std::frexp(static_cast<double>(exact), &exponent);
  return (static_cast<long double>(y) - exact) /
         std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}

// Packs: an estimate good to 2^-14 (AVX-512) or 1.5 2^-12 (AVX2) makes e at most twice that; the
// first term left out, 35/128 e^4 or 63/256 e^5, is below 0.55 ulp in double and 0.1 in float, the
// last fma rounds once (0.5) and e carries the rounding of a y (below 0.4): under 1.5 together.
// 1/sqrt(a), of scalars and of the portable build, rounds twice: at most 1.5, as the first error
// can double in ulps on its way through the quotient. No method gets below half an ulp.
TYPED_TEST(FloatPack, ReciprocalSquareRootIsGoodToTheLastBits) {
  using T = TypeParam;
  constexpr int n = Pack<T>::lanes;
  Worst pack_error("rsqrt_pack_ulp"), scalar_error("rsqrt_scalar_ulp");
  std::vector<T> values;
  for (int k = -10; k <= 26; ++k) {
    T near = std::ldexp(T(1), k);
    values.push_back(near);
    values.push_back(std::nextafter(near, T(0)));
    values.push_back(std::nextafter(near, T(1e30)));
  }
  while (values.size() < 400000 || values.size() % n != 0) {
    const double u = static_cast<double>(this->engine_() >> 11) * 0x1p-53;
    values.push_back(static_cast<T>(std::exp(std::log(1e-3) + u * std::log(1e11))));
  }
  for (std::size_t k = 0; k < values.size(); k += n) {
    const Pack<T> a = Pack<T>::load_unaligned(&values[k]);
    const Pack<T> y = rsqrt(a);
    const Pack<T> scaled = rsqrt(Pack<T>(T(4)) * a);
    for (int i = 0; i < n; ++i) {
      pack_error.see(rsqrt_error_ulp(a[i], y[i]));
      scalar_error.see(rsqrt_error_ulp(a[i], rsqrt(a[i])));
      // The law: scaling by 4 only halves.
      ASSERT_EQ(scaled[i], T(0.5) * y[i]) << "a = " << a[i];
    }
  }
  pack_error.expect_between(0.49, 1.5);
  scalar_error.expect_between(0.49, 1.5);
}

/// What refined_rsqrt() leaves of an estimate 1/sqrt(a) (1 + error), relative.
long double refined_error(double a, double error) {
  const long double root = std::sqrt(static_cast<long double>(a));
  const double estimate = static_cast<double>((1.0L + error) / root);
  return refined_rsqrt(a, estimate) * root - 1.0L;
}

// In units of 2^-53: e carries the roundings of y y and of its product with a where there is no
// fma, of which half goes into the result (1), the first term left out is 5/16 e^3 (0.16), and the
// last fma rounds once (1).
TEST(RefinedReciprocalSquareRoot, IsGoodToTheLastBits) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> exponent(-990.0, 990.0), error(-0x1p-19, 0x1p-19);
  Worst units("refined_rsqrt_units");
  for (int k = 0; k < 200000; ++k) {
    const double a = std::exp2(exponent(engine));
    for (double of_estimate : {0x1p-19, -0x1p-19, error(engine)}) {
      units.see(0x1p53L * refined_error(a, of_estimate));
    }
  }
  units.expect_between(0.9, 2.2);
}

// The law: the error that is left is -5/16 e^3 - 35/128 e^4 ... of what e = 1 - a y^2 was.
TEST(RefinedReciprocalSquareRoot, IsOfThirdOrder) {
  for (double a : {0.3, 2.0, 1e10, 1e300}) {
    for (double error : {0x1p-6, -0x1p-6, 0x1p-9, -0x1p-9}) {
      const long double e = 1.0L - (1.0L + error) * (1.0L + error);
      const long double third = -0.3125L * e * e * e * (1.0L + error);
      EXPECT_NEAR(static_cast<double>(refined_error(a, error) / third), 1.0,
                  std::fabs(static_cast<double>(e)))
          << a << ", " << error;
    }
  }
}

// In units of 2^-digits, relative: by rsqrt(), y has 2, three times; the product with s and the two
// others 1 each: 9. By series: the two or three products 1 each, e carries half the rounding of
// y^2, the term left out (35/16 e^3 of float, as above) and the constants 1 each, the last
// operation 1: below 8.
TYPED_TEST(FloatPack, ScaledCubeOfTheReciprocalSquareRoot) {
  using T = TypeParam;
  constexpr int n = Pack<T>::lanes;
  Worst pack_error("rsqrt_cubed_pack"), scalar_error("rsqrt_cubed_scalar");
  const auto error = [](T s, T a, T y) {
    const long double exact =
        s / (static_cast<long double>(a) * std::sqrt(static_cast<long double>(a)));
    return std::ldexp((static_cast<long double>(y) - exact) / exact,
                      std::numeric_limits<T>::digits);
  };
  for (int round = 0; round < 100000 / n; ++round) {
    const Pack<T> s[2] = {this->pack(), this->pack()};
    Pack<T> a[2], out[2];
    for (Pack<T>& p : a) {
      for (int i = 0; i < n; ++i) {
        const double u = static_cast<double>(this->engine_() >> 11) * 0x1p-53;
        p.v[i] = static_cast<T>(std::exp(std::log(1e-1) + u * std::log(1e7)));
      }
    }
    const Pack<T> estimate[2] = {rsqrt_estimate(a[0]), rsqrt_estimate(a[1])};
    scaled_rsqrt_cubed(s, a, estimate, out);
    for (int k = 0; k < 2 * n; ++k) {
      const int which = k / n, i = k % n;
      const T scale[1] = {s[which][i]}, square[1] = {a[which][i]};
      if (scale[0] == T(0)) continue;
      T y[1];
      const T start[1] = {rsqrt_estimate(square[0])};
      scaled_rsqrt_cubed(scale, square, start, y);
      pack_error.see(error(scale[0], square[0], out[which][i]));
      scalar_error.see(error(scale[0], square[0], y[0]));
    }
  }
  pack_error.expect_between(0.9, 9.0);
  scalar_error.expect_between(0.9, 9.0);
}

// Whole numbers, whose sums are exact in any order.
TYPED_TEST(FloatPack, SumsTheLanesOfManyPacks) {
  using T = TypeParam;
  constexpr int n = Pack<T>::lanes;
  std::mt19937_64 engine(3);
  Pack<T> a[n];
  std::vector<T> expected;
  for (Pack<T>& p : a) {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += p.v[i] = static_cast<T>(engine() % 100000);
    expected.push_back(sum);
  }
  const Pack<T> sums = sum_lanes_of_each(a);
  for (int i = 0; i < n; ++i) EXPECT_EQ(sums[i], expected[static_cast<std::size_t>(i)]) << i;
}

TYPED_TEST(FloatPack, LanesAreSummedByHalving) {
  using T = TypeParam;
  constexpr int n = Pack<T>::lanes;
  for (int k = 0; k < 1000; ++k) {
    const Pack<T> a = this->pack();
    std::vector<T> r(n);
    for (int i = 0; i < n; ++i) r[i] = a[i];
    while (r.size() > 1) {
      const std::size_t half = r.size() / 2;
      for (std::size_t i = 0; i < half; ++i) r[i] = r[i] + r[i + half];
      r.resize(half);
    }
    ASSERT_TRUE(same(sum_lanes(a), r[0]));
  }
  // Whole numbers add up exactly in any order.
  Pack<T> whole;
  for (int i = 0; i < n; ++i) whole.v[i] = T(i + 1);
  EXPECT_EQ(sum_lanes(whole), T(n * (n + 1) / 2));
}

// --- integers and conversions -------------------------------------------------------------------

class IntegerPack : public ::testing::Test {
 protected:
  std::mt19937_64 engine_{2};
  template <class T>
  Pack<T> pack() {
    Pack<T> p;
    for (int i = 0; i < Pack<T>::lanes; ++i) p.v[i] = static_cast<T>(engine_());
    return p;
  }
};

template <class T>
void expect_bit_operations(const Pack<T>& a, const Pack<T>& b) {
  for (int i = 0; i < Pack<T>::lanes; ++i) {
    ASSERT_EQ((a & b)[i], a[i] & b[i]);
    ASSERT_EQ((a ^ b)[i], a[i] ^ b[i]);
    ASSERT_EQ((a + b)[i], static_cast<T>(a[i] + b[i]));
    ASSERT_EQ((a - b)[i], static_cast<T>(a[i] - b[i]));
    for (int n : {0, 1, 23, 30, 31}) {
      ASSERT_EQ((a << n)[i], static_cast<T>(a[i] << n));
      ASSERT_EQ((a >> n)[i], static_cast<T>(a[i] >> n));
    }
    ASSERT_EQ((a >> 8 * (sizeof(T) / 2))[i], static_cast<T>(a[i] >> 8 * (sizeof(T) / 2)));
  }
}

TEST_F(IntegerPack, BitOperationsMatchScalars) {
  for (int n = 0; n < 1000; ++n) {
    expect_bit_operations(pack<std::uint32_t>(), pack<std::uint32_t>());
    expect_bit_operations(pack<std::uint64_t>(), pack<std::uint64_t>());
  }
}

TEST_F(IntegerPack, FloatsWidenExactlyAndDoublesRoundToNearest) {
  constexpr int n = Pack<double>::lanes;
  for (int k = 0; k < 1000; ++k) {
    const Pack<float> a = float_of_int(pack<std::uint32_t>());
    Pack<double> low, high;
    widen(a, low, high);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(low[i], static_cast<double>(a[i]));
      ASSERT_EQ(high[i], static_cast<double>(a[n + i]));
    }
    // Every float survives the way to double and back.
    ASSERT_EQ(lanes_of(round_to_float(low, high)), lanes_of(a));

    for (int i = 0; i < n; ++i) {
      low.v[i] = static_cast<double>(engine_()) * 0x1p-64;
      high.v[i] = -static_cast<double>(engine_()) * 0x1p-60;
    }
    const Pack<float> both = round_to_float(low, high);
    alignas(kPackBytes) float in_memory[2 * n];
    store_rounded(low, in_memory);
    store_rounded(high, in_memory + n);
    const Pack<double> again = load_widened(in_memory), high_again = load_widened(in_memory + n);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(both[i], static_cast<float>(low[i]));
      ASSERT_EQ(both[n + i], static_cast<float>(high[i]));
      ASSERT_EQ(in_memory[i], both[i]);
      ASSERT_EQ(in_memory[n + i], both[n + i]);
      ASSERT_EQ(again[i], static_cast<double>(both[i]));
      ASSERT_EQ(high_again[i], static_cast<double>(both[n + i]));
    }
  }
  // A tie goes to the even neighbour.
  const Pack<float> tie = round_to_float(Pack<double>(1.0 + 0x1p-24), Pack<double>(1.0 + 0x3p-24));
  EXPECT_EQ(tie[0], 1.0f);
  EXPECT_EQ(tie[n], 1.0f + 0x1p-22f);
}

TEST_F(IntegerPack, BitsOfFloats) {
  for (int k = 0; k < 1000; ++k) {
    const Pack<std::uint32_t> a = pack<std::uint32_t>();
    const int shift = static_cast<int>(engine_() % 32);
    const Pack<float> converted = float_of_int(a);
    const Pack<std::uint32_t> shifted = shift_right_signed(a, shift);
    const Pack<std::uint32_t> round_trip = bits_of(float_of_bits(a));
    for (int i = 0; i < Pack<std::uint32_t>::lanes; ++i) {
      const std::int64_t value = static_cast<std::int32_t>(a[i]);
      ASSERT_EQ(converted[i], static_cast<float>(value));
      ASSERT_EQ(float_of_int(a[i]), static_cast<float>(value));
      // Towards minus infinity, whatever the sign.
      const auto floor = static_cast<std::uint32_t>(
          static_cast<std::int64_t>(std::floor(std::ldexp(static_cast<double>(value), -shift))));
      ASSERT_EQ(shifted[i], floor);
      ASSERT_EQ(shift_right_signed(a[i], shift), floor);
      ASSERT_EQ(round_trip[i], a[i]);
    }
  }
  EXPECT_EQ(bits_of(1.0f), 0x3f800000u);
  EXPECT_EQ(float_of_bits(0xc0490fdbu), -3.14159274f);
  EXPECT_EQ(bits_of(Pack<float>(-0.0f))[0], 0x80000000u);
}

static_assert(std::is_same_v<mask_t<double>, bool> && std::is_same_v<scalar_t<double>, double>);
static_assert(std::is_same_v<mask_t<Pack<float>>, Mask<float>>);
static_assert(std::is_same_v<scalar_t<Pack<float>>, float>);

// --- elementary functions
// -------------------------------------------------------------------------

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
