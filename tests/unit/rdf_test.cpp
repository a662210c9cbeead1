#include "analysis/rdf.hpp"

#include "testing.hpp"

namespace tarn::analysis {
namespace {

TEST(Rdf, CountsPairsBetweenMoleculesOnly) {
  EXPECT_EQ(pairs_per_sample(1), (std::array<double, 3>{0, 0, 0}));
  EXPECT_EQ(pairs_per_sample(7), (std::array<double, 3>{21, 84, 84}));

  // Two molecules on a line; oxygens at 0 and 4, hydrogens 1 to the right and 1 above.
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 0, 1, 0, 4, 0, 0, 5, 0, 0, 4, 1, 0};
  std::vector<std::uint64_t> counts(3 * 12, 0);
  count_pairs(x, 6.0, 12, counts);
  const auto count = [&](int pair_class, double r) {
    return counts[static_cast<std::size_t>(pair_class * 12 + static_cast<int>(r * 2.0))];
  };
  EXPECT_EQ(count(0, 4.0), 1u);
  EXPECT_EQ(count(1, 3.0), 1u);              // O2-H1
  EXPECT_EQ(count(1, std::sqrt(17.0)), 2u);  // O1-H2', O2-H1'
  EXPECT_EQ(count(1, 5.0), 1u);              // O1-H2
  EXPECT_EQ(count(2, 4.0), 2u);              // like to like
  EXPECT_EQ(count(2, std::sqrt(10.0)), 1u);
  EXPECT_EQ(count(2, std::sqrt(26.0)), 1u);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 9u);

  std::vector<std::uint64_t> near(3 * 12, 0);
  count_pairs(x, 4.0, 12, near);  // [0, 4): a distance of exactly r_max is out
  EXPECT_EQ(std::accumulate(near.begin(), near.begin() + 12, std::uint64_t{0}), 0u);
}

TEST(Rdf, NormalisationIsThatOfTheBall) {
  // Shell volumes over the ball's: their inverse weights must add up to 1, and the formula must be
  // the textbook one, (4 pi r^2 dr) to second order in the width.
  const int bins = 240;
  const double r_max = 12.0;
  const std::vector<double> weights = rdf_weights(bins);
  const std::vector<double> r = bin_centres_A(r_max, bins);
  double volume = 0.0;
  for (int b = 0; b < bins; ++b) {
    volume += 1.0 / weights[b];
    const double dr = r_max / bins;
    const double textbook = r_max * r_max * r_max / 3.0 / (r[b] * r[b] * dr);
    // (r + h)^3 - (r - h)^3 = 6 r^2 h (1 + h^2 / (3 r^2)), h = dr / 2.
    EXPECT_NEAR(weights[b] * (1.0 + dr * dr / (12.0 * r[b] * r[b])), textbook, 1e-12 * textbook);
  }
  EXPECT_NEAR(volume, 1.0, 2.0 * bins * test::kEpsilon);
  EXPECT_DOUBLE_EQ(r[0], 0.025);
  EXPECT_DOUBLE_EQ(r[239], 11.975);
}

TEST(Rdf, EvenlySpreadPairsGiveOne) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const int bins = 20;
  const double samples = 200'000.0;
  std::vector<std::uint64_t> counts(bins, 0);
  for (int i = 0; i < static_cast<int>(samples); ++i) {
    ++counts[static_cast<std::size_t>(bins * std::cbrt(uniform(random)))];
  }
  const std::vector<double> g = rdf(counts, samples, 1.0);
  const std::vector<double> weights = rdf_weights(bins);
  for (int b = 0; b < bins; ++b) {
    // Poisson: the count n of a bin has standard deviation sqrt(n), g that times the weight.
    const double sigma = std::sqrt(weights[b] / samples);
    EXPECT_NEAR(g[b], 1.0, 4.5 * sigma) << b;
  }
  EXPECT_EQ(rdf(counts, 0.0, 1.0), std::vector<double>(bins, 0.0));
  EXPECT_EQ(rdf(counts, 5.0, 0.0), std::vector<double>(bins, 0.0));
}

TEST(Histogram, DistancesInClosedForm) {
  const std::vector<double> a{1, 1, 0, 0};
  const std::vector<double> b{0, 0, 3, 3};
  const std::vector<double> c{2, 0, 2, 0};
  const std::vector<double> none(4, 0.0);
  EXPECT_DOUBLE_EQ(total_variation(a, a), 0.0);
  EXPECT_DOUBLE_EQ(total_variation(a, b), 1.0);
  EXPECT_DOUBLE_EQ(total_variation(a, c), 0.5);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(a, b), 1.0);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(a, c), 0.5);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(b, c), 0.5);
  EXPECT_DOUBLE_EQ(total_variation(a, none), 1.0);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(a, none), 1.0);
  EXPECT_DOUBLE_EQ(total_variation(none, none), 0.0);
  EXPECT_THROW(total_variation(a, std::vector<double>(3)), std::invalid_argument);
}

TEST(Histogram, DistancesAreMetrics) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> exponential(1.0);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> h[3];
    for (auto& histogram : h) {
      for (int i = 0; i < 31; ++i) histogram.push_back(exponential(random));
    }
    for (auto distance : {total_variation, kolmogorov_smirnov}) {
      const double d01 = distance(h[0], h[1]);
      EXPECT_DOUBLE_EQ(d01, distance(h[1], h[0]));
      EXPECT_LE(d01, distance(h[0], h[2]) + distance(h[2], h[1]) + 1e-15);
    }
    EXPECT_LE(kolmogorov_smirnov(h[0], h[1]), total_variation(h[0], h[1]) + 1e-15);
  }
}

}  // namespace
}  // namespace tarn::analysis
