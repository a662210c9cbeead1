#include "analysis/spectrum.hpp"

#include <complex>

#include "testing.hpp"

namespace tarn::analysis {
namespace {

constexpr double kPi = units::pi;

std::vector<double> power_of(const std::vector<double>& segment) {
  Periodogram periodogram(segment.size());
  std::vector<double> power(periodogram.frequencies(), 0.0);
  periodogram.add(segment, 1.0, power);
  return power;
}

std::vector<double> window(std::size_t n) {
  std::vector<double> w(n);
  for (std::size_t j = 0; j < n; ++j) {
    w[j] = 0.5 - 0.5 * std::cos(2.0 * kPi * static_cast<double>(j) / static_cast<double>(n));
  }
  return w;
}

std::vector<double> noise(std::size_t n, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> u(n);
  for (double& x : u) x = normal(random);
  return u;
}

TEST(Periodogram, IsThePlainSumOverTheSegment) {
  std::mt19937_64 random(7);
  for (const std::size_t n : {16u, 20u, 36u, 60u, 64u}) {
    const std::vector<double> u = noise(n, random), w = window(n);
    const std::vector<double> power = power_of(u);
    ASSERT_EQ(power.size(), n / 2 + 1);
    long double squares = 0.0L;
    for (const double x : w) squares += static_cast<long double>(x) * x;
    for (std::size_t k = 0; k <= n / 2; ++k) {
      std::complex<long double> sum = 0.0L;
      for (std::size_t j = 0; j < n; ++j) {
        const long double angle = -2.0L * std::acos(-1.0L) * static_cast<long double>(j * k) / n;
        sum += std::polar(static_cast<long double>(w[j]) * u[j], angle);
      }
      const long double sides = k == 0 || k == n / 2 ? 1.0L : 2.0L;
      // Some log2(64) = 6 roundings of a sum of the size of u.
      EXPECT_NEAR(power[k], static_cast<double>(sides * std::norm(sum) / (n * squares)), 1e-13);
    }
  }
}

/// (1/4, 1, 1/4) / (3/2) of the mean square, the window's own three lines.
TEST(Periodogram, PutsALineIntoThreeRows) {
  constexpr std::size_t kSamples = 240, kLine = 30;
  std::vector<double> u(kSamples);
  for (std::size_t j = 0; j < kSamples; ++j) {
    u[j] = 3.0 * std::cos(2.0 * kPi * kLine * static_cast<double>(j) / kSamples + 0.4);
  }
  const std::vector<double> power = power_of(u);
  for (std::size_t k = 0; k < power.size(); ++k) {
    const double share = k == kLine                         ? 2.0 / 3.0
                         : k + 1 == kLine || k == kLine + 1 ? 1.0 / 6.0
                                                            : 0.0;
    EXPECT_NEAR(power[k], share * 4.5, test::rounding(kSamples, 4, 4.5)) << k;
  }
  // A constant: its square, with a third of it in the first row after zero.
  const std::vector<double> constant = power_of(std::vector<double>(kSamples, 2.0));
  EXPECT_NEAR(constant[0], 4.0 * 2.0 / 3.0, 1e-13);
  EXPECT_NEAR(constant[1], 4.0 / 3.0, test::rounding(kSamples, 4, 4.5));
}

TEST(Periodogram, AddsUpToTheMeanSquareUnderTheWindow) {
  std::mt19937_64 random(11);
  for (const std::size_t n : {16u, 100u, 4096u}) {
    const std::vector<double> u = noise(n, random), w = window(n);
    double weighted = 0.0, weights = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      weighted += w[j] * w[j] * u[j] * u[j];
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
    periodogram.add(noise(kSamples, random), 1.0 / kSegments, power);
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
  std::vector<double> power(periodogram.frequencies(), 0.0), u(kSamples);
  for (int s = 0; s < kSegments; ++s) {
    double x = normal(random);
    for (double& sample : u) {
      sample = x;
      x = keep * x + kick * normal(random);
    }
    periodogram.add(u, 1.0 / kSegments, power);
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
    std::size_t left = n;
    for (const std::size_t factor : {2u, 3u, 5u}) {
      while (left % factor == 0) left /= factor;
    }
    EXPECT_EQ(left, 1u);
  }
  EXPECT_EQ(segment_samples(1e5, 1.0), 16u);
  EXPECT_EQ(segment_samples(kHannWidth, 1.0 / 47.9), 48u);
}

/// A line half the width off has half of the power.
TEST(SegmentSamples, HaveTheWidthOfHannsWindow) {
  constexpr std::size_t kSamples = 4096, kRow = 1000;
  const auto power = [](double line) {
    std::vector<double> u(kSamples);
    for (std::size_t j = 0; j < kSamples; ++j) {
      u[j] = std::cos(2.0 * kPi * line * static_cast<double>(j) / kSamples);
    }
    return power_of(u)[kRow];
  };
  // The mirror image, 2000 rows away, is 1e-9 of the amplitude.
  EXPECT_NEAR(power(kRow + 0.5 * kHannWidth) / power(kRow), 0.5, 1e-6);
}

}  // namespace
}  // namespace tarn::analysis
