#include "analysis/spectrum.hpp"

#include <array>
#include <complex>

#include "testing.hpp"

namespace tarn::analysis {
namespace {

constexpr double kPi = units::pi;

using Series = std::vector<float>;

std::vector<double> power_of(const Series& segment) {
  Periodogram periodogram(segment.size());
  std::vector<double> power(periodogram.frequencies(), 0.0);
  periodogram.add(segment, std::array{1.0}, power);
  return power;
}

std::vector<double> window(std::size_t n) {
  std::vector<double> w(n);
  for (std::size_t j = 0; j < n; ++j) {
    w[j] = 0.5 - 0.5 * std::cos(2.0 * kPi * static_cast<double>(j) / static_cast<double>(n));
  }
  return w;
}

Series noise(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  Series u(n);
  for (float& x : u) x = normal(random);
  return u;
}

/// The plain sums over segments [sample][series] with their weights.
std::vector<double> plain_power(const Series& u, const std::vector<double>& weights,
                                std::size_t n) {
  const std::vector<double> w = window(n);
  long double squares = 0.0L;
  for (const double x : w) squares += static_cast<long double>(x) * x;
  std::vector<std::complex<long double>> roots(n);
  for (std::size_t j = 0; j < n; ++j) {
    roots[j] = std::polar(1.0L, -2.0L * std::acos(-1.0L) * static_cast<long double>(j) / n);
  }
  std::vector<double> power(n / 2 + 1, 0.0);
  for (std::size_t k = 0; k <= n / 2; ++k) {
    const long double sides = k == 0 || k == n / 2 ? 1.0L : 2.0L;
    for (std::size_t s = 0; s < weights.size(); ++s) {
      std::complex<long double> sum = 0.0L;
      for (std::size_t j = 0; j < n; ++j) {
        sum += static_cast<long double>(w[j]) * u[j * u.size() / n + s] * roots[j * k % n];
      }
      power[k] += static_cast<double>(weights[s] * sides * std::norm(sum) / (n * squares));
    }
  }
  return power;
}

/// Whether a transform has this length.
bool is_length(std::size_t n) {
  for (const std::size_t factor : {2u, 3u, 5u}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

/// All lengths 4 2^a 3^b 5^c up to 500, and longer ones.
TEST(Periodogram, IsThePlainSumOverTheSegment) {
  std::mt19937_64 random(7);
  std::vector<std::size_t> lengths{2400, 2916, 4096, 5000};
  for (std::size_t n = 4; n <= 500; n += 4) {
    if (is_length(n)) lengths.push_back(n);
  }
  for (const std::size_t n : lengths) {
    const Series u = noise(n, random);
    const std::vector<double> power = power_of(u), plain = plain_power(u, {1.0}, n);
    ASSERT_EQ(power.size(), n / 2 + 1);
    // About log2(n) < 14 roundings of a sum of the size of u.
    for (std::size_t k = 0; k <= n / 2; ++k) EXPECT_NEAR(power[k], plain[k], 1e-13) << n;
  }
}

/// Numbers of series on both sides of a block of 16, with a further number in each sample.
TEST(Periodogram, AddsTheSeriesWithTheirWeights) {
  constexpr std::size_t kSamples = 60;
  std::mt19937_64 random(8);
  for (const std::size_t series : {1u, 3u, 8u, 9u, 15u, 16u, 17u, 31u, 32u, 63u}) {
    const Series u = noise(kSamples * (series + 1), random);
    std::vector<double> weights(series);
    for (std::size_t s = 0; s < series; ++s) weights[s] = 0.5 + static_cast<double>(s % 5);
    Periodogram periodogram(kSamples);
    std::vector<double> power(periodogram.frequencies(), 1.0);
    periodogram.add(u, weights, power);
    const std::vector<double> plain = plain_power(u, weights, kSamples);
    // Each series adds up to about 5 x 0.1, with 6 roundings.
    const double tolerance = 1e-13 * static_cast<double>(series);
    for (std::size_t k = 0; k < power.size(); ++k) {
      EXPECT_NEAR(power[k], 1.0 + plain[k], tolerance) << series << ' ' << k;
    }
  }
}

/// (1/4, 1, 1/4) / (3/2) of the mean square, the window's own three lines.
TEST(Periodogram, PutsALineIntoThreeRows) {
  constexpr std::size_t kSamples = 240, kLine = 30;
  Series u(kSamples);
  for (std::size_t j = 0; j < kSamples; ++j) {
    const double angle = 2.0 * kPi * kLine * static_cast<double>(j) / kSamples + 0.4;
    u[j] = static_cast<float>(3.0 * std::cos(angle));
  }
  const std::vector<double> power = power_of(u);
  // Rounding to float changes an amplitude by at most 2^-24 of it, and its square by twice that.
  const double rounding = 2.0 * 4.5 * 0x1p-24;
  for (std::size_t k = 0; k < power.size(); ++k) {
    const double share = k == kLine                         ? 2.0 / 3.0
                         : k + 1 == kLine || k == kLine + 1 ? 1.0 / 6.0
                                                            : 0.0;
    EXPECT_NEAR(power[k], share * 4.5, rounding) << k;
  }
  // A constant: its square, with a third of it in the first row after zero.
  const std::vector<double> constant = power_of(Series(kSamples, 2.0F));
  EXPECT_NEAR(constant[0], 4.0 * 2.0 / 3.0, 1e-13);
  EXPECT_NEAR(constant[1], 4.0 / 3.0, test::rounding(kSamples, 4, 4.5));
}

TEST(Periodogram, AddsUpToTheMeanSquareUnderTheWindow) {
  std::mt19937_64 random(11);
  for (const std::size_t n : {16u, 100u, 4096u}) {
    const Series u = noise(n, random);
    const std::vector<double> w = window(n);
    double weighted = 0.0, weights = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      weighted += w[j] * w[j] * u[j] * double{u[j]};
      weights += w[j] * w[j];
    }
    const std::vector<double> power = power_of(u);
    EXPECT_NEAR(std::accumulate(power.begin(), power.end(), 0.0), weighted / weights,
                test::rounding(n, 4));
  }
}

/// 4000 segments: each row of exponential distribution, the ends of chi squared with half of it.
TEST(Periodogram, OfWhiteNoiseIsFlat) {
  constexpr std::size_t kSamples = 64;
  constexpr int kSegments = 4000;
  std::mt19937_64 random(13);
  Periodogram periodogram(kSamples);
  std::vector<double> power(periodogram.frequencies(), 0.0);
  for (int s = 0; s < kSegments; ++s) {
    periodogram.add(noise(kSamples, random), std::array{1.0 / kSegments}, power);
  }
  for (std::size_t k = 0; k < power.size(); ++k) {
    const bool end = k == 0 || k + 1 == power.size();
    const double expected = (end ? 1.0 : 2.0) / kSamples;
    // The row beside an end shares a sixth of its amplitude with its mirror image.
    const double sigma = expected * std::sqrt((end ? 2.0 : 37.0 / 36.0) / kSegments);
    EXPECT_NEAR(power[k], expected, 4.5 * sigma) << k;
  }
}

/// Correlations exp(-Gamma t) give the Lorentzian 4 Gamma / (Gamma^2 + (2 pi f)^2).
TEST(Periodogram, OfAnOrnsteinUhlenbeckProcessIsALorentzian) {
  constexpr std::size_t kSamples = 1000;
  constexpr int kSegments = 3000;
  constexpr double kInterval = 0.02, kGamma = 2.0 * kPi;  // 20 rows wide
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  const double keep = std::exp(-kGamma * kInterval);
  const double kick = std::sqrt(1.0 - keep * keep);
  Periodogram periodogram(kSamples);
  std::vector<double> power(periodogram.frequencies(), 0.0);
  Series u(kSamples);
  for (int s = 0; s < kSegments; ++s) {
    double x = normal(random);
    for (float& sample : u) {
      sample = static_cast<float>(x);
      x = keep * x + kick * normal(random);
    }
    periodogram.add(u, std::array{1.0 / kSegments}, power);
  }
  const double spacing = 1.0 / (kSamples * kInterval);
  // Folding adds (Gamma^2 + omega^2) dt^2 / 12 of it, and terms of the fourth order, below 1e-4 up
  // to a tenth of Nyquist's frequency. The window smooths by less than 1/(3 20^2) = 8e-4.
  for (std::size_t k = 2; k < kSamples / 20; ++k) {
    const double omega = 2.0 * kPi * spacing * static_cast<double>(k);
    const double squares = kGamma * kGamma + omega * omega;
    const double expected =
        4.0 * kGamma / squares * spacing * (1.0 + squares * kInterval * kInterval / 12.0);
    EXPECT_NEAR(power[k], expected, (4.5 / std::sqrt(kSegments) + 1e-3) * expected) << k;
  }
}

TEST(SegmentSamples, ResolveALineAndTransformFast) {
  for (const double resolution : {0.37, 1.0, 2.5, 13.0, 101.0}) {
    constexpr double kInterval = 1e-4;
    const std::size_t n = segment_samples(resolution, kInterval);
    const double wanted = kHannWidth / (resolution * kInterval);
    EXPECT_GE(static_cast<double>(n), wanted);
    EXPECT_LE(static_cast<double>(n), 1.25 * wanted + 4.0);  // 4, 5, 6, 8: at most a quarter apart
    EXPECT_EQ(n % 4, 0u);
    EXPECT_TRUE(is_length(n));
  }
  EXPECT_EQ(segment_samples(1e5, 1.0), 16u);
  EXPECT_EQ(segment_samples(kHannWidth, 1.0 / 47.9), 48u);
}

/// A line half the width off has half of the power.
TEST(SegmentSamples, HaveTheWidthOfHannsWindow) {
  constexpr std::size_t kSamples = 4096, kRow = 1000;
  const auto power = [](double line) {
    Series u(kSamples);
    for (std::size_t j = 0; j < kSamples; ++j) {
      const double angle = 2.0 * kPi * line * static_cast<double>(j) / kSamples;
      u[j] = static_cast<float>(std::cos(angle));
    }
    return power_of(u)[kRow];
  };
  // The mirror image, 2000 rows away, is 1e-9 of the amplitude; rounding to float, 1e-7.
  EXPECT_NEAR(power(kRow + 0.5 * kHannWidth) / power(kRow), 0.5, 1e-6);
}

}  // namespace
}  // namespace tarn::analysis
