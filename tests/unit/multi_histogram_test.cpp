#include "tarn/analysis/multi_histogram.hpp"

#include "tarn/analysis/errors.hpp"
#include "testing.hpp"

/// @file
/// Harmonic oscillators, whose energies have the gamma distribution and whose every moment is known
/// at every temperature.

namespace tarn::analysis {
namespace {

constexpr double kShape = 6.0;  // half the number of degrees of freedom

struct Sample {
  std::size_t bath;
  std::int64_t ladder;
  double energy;
};
/// Energies of independent oscillators, one of each ladder and bath at each moment.
std::vector<Sample> samples(const std::vector<double>& beta, std::int64_t ladders, int moments,
                            unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Sample> all;
  for (int moment = 0; moment < moments; ++moment) {
    for (std::int64_t ladder = 0; ladder < ladders; ++ladder) {
      for (std::size_t bath = 0; bath < beta.size(); ++bath) {
        all.push_back({bath, ladder, std::gamma_distribution(kShape, 1.0 / beta[bath])(random)});
      }
    }
  }
  return all;
}
/// Their histograms; `change` may change a sample, and returns the value to be averaged.
template <class F>
MultiHistogram collected(const std::vector<double>& beta, std::int64_t ladders, int moments,
                         unsigned seed, const F& change) {
  MultiHistogram histogram(beta, ladders);
  for (Sample s : samples(beta, ladders, moments, seed)) {
    const double value = change(s);
    histogram.add(s.bath, s.ladder, s.energy, value);
    if (s.bath + 1 == beta.size() && s.ladder + 1 == ladders) histogram.end_step();
  }
  return histogram;
}
MultiHistogram collected(const std::vector<double>& beta, std::int64_t ladders, int moments,
                         unsigned seed) {
  return collected(beta, ladders, moments, seed, [](const Sample& s) { return s.energy; });
}
/// One bin a sample.
std::vector<std::vector<EnergyBin>> alone(const std::vector<Sample>& all, std::size_t baths) {
  std::vector<std::vector<EnergyBin>> bins(baths);
  for (const Sample& s : all) {
    bins[s.bath].push_back({1.0, s.energy, s.energy, s.energy * s.energy});
  }
  return bins;
}
template <class F>
double error(const MultiHistogram::Result& result, const F& f) {
  const auto one = [&f](const Reweighting& r) { return std::vector<double>{f(r)}; };
  return result.errors(one(result.all()), one)[0];
}
Reweighting reweighting(const std::vector<double>& beta,
                        const std::vector<std::vector<EnergyBin>>& bins) {
  std::vector<EnergyBin> all;
  std::vector<double> samples;
  for (const std::vector<EnergyBin>& of_bath : bins) {
    samples.push_back(0.0);
    for (const EnergyBin& bin : of_bath) samples.back() += bin.samples;
    all.insert(all.end(), of_bath.begin(), of_bath.end());
  }
  return {beta, samples, all, neighbour_free_energies(beta, bins)};
}
/// What is left of the equations of the free energies, relative.
constexpr double kOfEquations = 1e-8;
/// Of two solutions, free energies: twice that over what baths share, a fifth and more.
constexpr double kOfFreeEnergies = 2.0 * kOfEquations / 0.2;

double capacity(const Reweighting& r, double beta) { return beta * beta * r.at(beta).covariance; }
auto mean_at(double beta) {
  return [beta](const Reweighting& r) { return r.at(beta).mean; };
}
auto capacity_at(double beta) {
  return [beta](const Reweighting& r) { return capacity(r, beta); };
}
/// Expects f within 4.5 standard errors, and `more`, of a value; returns the standard error.
template <class F>
double expect_within_error(const MultiHistogram::Result& result, const F& f, double expected,
                           double more = 0.0) {
  const double standard_error = error(result, f);
  EXPECT_NEAR(f(result.all()), expected, 4.5 * standard_error + more);
  return standard_error;
}

/// A bath whose samples are of another temperature, and baths that agree: with the energies as they
/// are none of 40 is 4.5 errors off; a tenth of a bath's energy is some 8 of its own.
TEST(MultiHistogram, ContradictionsAreFound) {
  const std::vector<double> beta{2.0, 1.6, 1.3};
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const auto result = collected(beta, 16, 40, seed).result();
    EXPECT_TRUE(result->inconsistencies().empty()) << seed;
  }
  for (const double off : {1.25, 0.8}) {
    const auto scaled = [off](Sample& s) { return s.energy *= s.bath == 1 ? off : 1.0; };
    const auto found = collected(beta, 16, 100, 3, scaled).result()->inconsistencies();
    const auto middle = std::ranges::find_if(found, [](const auto& c) { return c.bath == 1; });
    ASSERT_NE(middle, found.end()) << off;
    EXPECT_EQ(middle->difference > 0.0, off > 1.0);
  }
  // Four parts do not determine their errors well enough.
  EXPECT_TRUE(collected(beta, 1, 4, 1).result()->inconsistencies().empty());
}

/// Mean n kT, heat capacity n k and free energy n ln(beta) at the baths and between them, within
/// errors that are no larger than they must be.
TEST(MultiHistogram, OscillatorsAtAnyTemperature) {
  const std::vector<double> beta{4.0, 2.5, 1.7, 1.1};
  // With them the fewest degrees of freedom, less one, of an error that tells how many samples are
  // worth one.
  for (const auto& [ladders, freedom] :
       {std::pair<std::int64_t, double>{1, 15.0}, {5, 4.0}, {40, 15.0}}) {
    const auto moments = static_cast<int>(20000 / ladders);
    const auto result = collected(beta, ladders, moments, 7).result();
    ASSERT_TRUE(result);
    ASSERT_TRUE(result->has_errors());
    EXPECT_TRUE(result->all().converged());
    for (const double b : {4.0, 3.2, 2.5, 2.0, 1.4, 1.1}) {
      SCOPED_TRACE(b);
      const double mean_error = expect_within_error(*result, mean_at(b), kShape / b);
      expect_within_error(*result, capacity_at(b), kShape);
      // All 80 000 samples at one temperature would have these errors, 20 000 of one bath alone
      // twice these; what is left of four parts in a jackknife of 16 varies by 18 %.
      const double least_mean = std::sqrt(kShape / 80000.0) / b;
      EXPECT_GT(mean_error, 0.45 * least_mean);
      EXPECT_LT(mean_error, 3.0 * least_mean);
      // 4.5 standard deviations of chi^2 above its mean, by Wilson & Hilferty (1931).
      const double part = 2.0 / (9.0 * freedom);
      const double most_g = std::pow(1.0 - part + 4.5 * std::sqrt(part), 3);
      EXPECT_GT(result->all().at(b).effective_samples, 20000.0 / most_g);
      EXPECT_LT(result->all().at(b).effective_samples, 80000.0);
    }
    for (std::size_t k = 1; k < beta.size(); ++k) {
      const auto f = [k](const Reweighting& r) { return r.free_energies()[k]; };
      expect_within_error(*result, f, kShape * std::log(beta[k] / beta[0]));
    }
  }
}

/// Many runs: how far their heat capacities are off is what their errors say. The square of the
/// ratio has the mean 15/13 of Student's t with the 15 degrees of freedom of 16 parts, to first
/// order, and a standard deviation of 1.84.
TEST(MultiHistogram, ErrorsMatchTheScatterOfManyRuns) {
  const std::vector<double> beta{4.0, 2.2};
  constexpr int kRuns = 400;
  constexpr double kBetween = 3.0;
  double square = 0.0;
  for (unsigned run = 0; run < kRuns; ++run) {
    const auto result = collected(beta, 16, 40, 100 + run).result();
    const auto heat = capacity_at(kBetween);
    square += std::pow((heat(result->all()) - kShape) / error(*result, heat), 2) / kRuns;
  }
  EXPECT_NEAR(square, 15.0 / 13.0, 4.5 * 1.84 / std::sqrt(kRuns));
}

/// Baths that are all alike weigh nearly alike: heat capacities of many runs scatter hardly more
/// than where nothing is known of the samples' worth, with all of them in one part. By the
/// inefficiencies of 16 parts as they come, whose logarithms have a deviation of 0.37, their mean
/// square would be 1.4 times as large.
TEST(MultiHistogram, NoiseOfTheInefficienciesIsTakenOut) {
  const std::vector<double> beta{2.2, 2.1, 2.0, 1.9, 1.8};
  constexpr int kRuns = 400, kMoments = 60;
  const double b = beta[1];
  double square = 0.0, at_best = 0.0, g = 0.0;
  for (unsigned run = 0; run < kRuns; ++run) {
    MultiHistogram known(beta, 16), unknown(beta, 16);
    for (const Sample& s : samples(beta, 16, kMoments, 1000 + run)) {
      known.add(s.bath, s.ladder, s.energy, s.energy);
      unknown.add(s.bath, 0, s.energy, s.energy);
    }
    square += std::pow(capacity(*known.reweighting(), b) - kShape, 2) / kRuns;
    at_best += std::pow(capacity(*unknown.reweighting(), b) - kShape, 2) / kRuns;
    for (const double of_bath : known.statistical_inefficiencies()) g = std::max(g, of_bath);
  }
  EXPECT_LT(square, 1.1 * at_best);
  EXPECT_GT(square, 0.9 * at_best);
  EXPECT_GT(g, 1.0);
}

/// Each of eight ladders stays at an energy of its own: the error of the mean is that of eight
/// values, s/sqrt(8), however time is split.
TEST(MultiHistogram, LaddersThatStayApartAreTheParts) {
  const std::vector<double> energies{1.0, 4.0, 2.5, 3.0, 2.0, 6.0, 3.5, 0.5};
  double mean = 0.0, squares = 0.0;
  for (const double u : energies) mean += u / 8.0;
  for (const double u : energies) squares += (u - mean) * (u - mean);
  const auto of_ladder = [&](Sample& s) {
    return s.energy = energies[static_cast<std::size_t>(s.ladder)];
  };
  const auto result = collected({2.0}, 8, 100, 1, of_ladder).result();
  const auto f = [](const Reweighting& r) { return std::vector<double>{r.at(2.0).mean}; };
  const auto errors = result->errors_of(f(result->all()), f);
  // Sums of 800 energies up to 6.
  EXPECT_NEAR(errors.largest[0], std::sqrt(squares / 7.0 / 8.0), 800.0 * 6.0 * test::kEpsilon);
  EXPECT_LT(errors.of_shortest[0], 0.9 * errors.largest[0]);
  EXPECT_EQ(errors.parts[0], 8u);
  // Student's t of 7 degrees of freedom, as a normal number.
  EXPECT_EQ(errors.sigmas(0, 3.0 * errors.largest[0]), normal_of_t(3.0, 7.0));
}

/// One bath: its own moments, and elsewhere plain weights exp(-(b - b0) U).
TEST(MultiHistogram, OfOneBathIsPlainReweighting) {
  const std::vector<double> beta{2.0};
  const std::vector<Sample> all = samples(beta, 1, 300, 3);
  const Reweighting r = reweighting(beta, alone(all, 1));
  EXPECT_TRUE(r.converged());
  EXPECT_EQ(r.free_energies()[0], 0.0);
  for (const double b : {2.0, 1.6}) {
    double sum = 0.0, squares = 0.0, mean = 0.0, variance = 0.0;
    const auto weight = [b](const Sample& s) { return std::exp((2.0 - b) * s.energy); };
    for (const Sample& s : all) sum += weight(s);
    for (const Sample& s : all) squares += weight(s) * weight(s);
    for (const Sample& s : all) mean += weight(s) * s.energy / sum;
    for (const Sample& s : all) variance += weight(s) * std::pow(s.energy - mean, 2) / sum;
    EXPECT_NEAR(r.at(b).mean, mean, 1e-12 * mean);
    EXPECT_NEAR(r.at(b).covariance, variance, 1e-11 * variance);
    EXPECT_NEAR(r.at(b).effective_samples, sum * sum / squares, 1e-9 * sum);
  }
}

/// exp(-f_k) = sum over the samples of exp(-beta_k U) / sum_j N_j exp(f_j - beta_j U), sample by
/// sample; baths may rise or fall, and one may have no samples.
TEST(MultiHistogram, FreeEnergiesSolveTheirEquations) {
  const std::vector<double> beta{3.0, 2.0, 1.6, 1.2};
  std::vector<Sample> all = samples(beta, 1, 200, 11);
  std::erase_if(all, [](const Sample& s) { return s.bath == 2; });
  const Reweighting r = reweighting(beta, alone(all, 4));
  ASSERT_TRUE(r.converged());
  const std::vector<double>& f = r.free_energies();
  EXPECT_EQ(f[0], 0.0);
  EXPECT_TRUE(std::isnan(f[2]));
  std::vector<double> z(4, 0.0);
  for (const Sample& s : all) {
    double mixture = 0.0;
    for (const std::size_t j : {0u, 1u, 3u}) {
      mixture += 200.0 * std::exp(f[j] - beta[j] * s.energy);
    }
    for (std::size_t k = 0; k < 4; ++k) z[k] += std::exp(-beta[k] * s.energy) / mixture;
  }
  for (const std::size_t k : {0u, 1u, 3u}) EXPECT_NEAR(-std::log(z[k]), f[k], kOfEquations);

  std::vector<double> rising(beta.rbegin(), beta.rend());
  std::vector<std::vector<EnergyBin>> bins = alone(all, 4);
  std::reverse(bins.begin(), bins.end());
  const Reweighting again = reweighting(rising, bins);
  EXPECT_NEAR(again.free_energies()[3] - again.free_energies()[0], f[0] - f[3], kOfFreeEnergies);
  // Weights change by as much as free energies, and a covariance by ten times that at most.
  EXPECT_NEAR(again.at(1.6).covariance, r.at(1.6).covariance,
              10.0 * kOfFreeEnergies * r.at(1.6).covariance);
}

/// The bins of the run hold what one sample a bin does, but for what weights change within a bin:
/// (b - b_k) U by 1/8 |b/b_k - 1| at most, a sixth of that between neighbours here.
TEST(MultiHistogram, BinsAreNarrow) {
  const std::vector<double> beta{3.0, 2.2, 1.6};
  const std::vector<Sample> all = samples(beta, 1, 2000, 5);
  const MultiHistogram histogram = collected(beta, 1, 2000, 5);
  const auto binned = histogram.result();
  std::vector<std::vector<EnergyBin>> bins = alone(all, 3);
  for (std::size_t bath = 0; bath < 3; ++bath) {
    for (EnergyBin& bin : bins[bath]) {
      bin = bin.weighted(1.0 / histogram.statistical_inefficiencies()[bath]);
    }
  }
  const Reweighting exact = reweighting(beta, bins);
  for (const double b : {3.0, 2.6, 1.9, 1.6}) {
    EXPECT_NEAR(binned->all().at(b).mean, exact.at(b).mean, 1e-4 * exact.at(b).mean);
    EXPECT_NEAR(binned->all().at(b).covariance, exact.at(b).covariance,
                1e-3 * exact.at(b).covariance);
    EXPECT_NE(binned->all().at(b).mean, exact.at(b).mean);
  }
}

/// Of two baths far apart in a third's company one cut is told, where it is. Two of one temperature
/// and n samples each share half of all of them: p (1 - p) = 1/4 of 2 n.
TEST(MultiHistogram, ReportsBathsWithoutOverlap) {
  const MultiHistogram h = collected({1000.0, 800.0, 1.0, 0.8}, 20, 100, 4);
  const auto cut = h.reweighting()->gaps();
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].below, 1u);
  EXPECT_EQ(cut[0].above, 2u);
  EXPECT_LT(cut[0].shared, 1.0);
  EXPECT_FALSE(equal_acceptance_ladder(*h.reweighting(), 1.0, 1e-3, 1.25, 4));
  for (const double samples : {39.0, 41.0}) {
    const std::vector<double> beta{1.0, 1.0};
    const std::vector<std::vector<EnergyBin>> bins(2, {{samples, 0.0, 0.0, 0.0}});
    EXPECT_EQ(reweighting(beta, bins).gaps().size(), samples < 40.0 ? 1u : 0u);
  }
}

/// Free energies far from the initial guess are found.
TEST(MultiHistogram, FindsFreeEnergiesFromAfar) {
  const std::vector<double> beta{3.0, 2.4, 2.0}, n(3, 300.0);
  const auto bins = alone(samples(beta, 1, 300, 6), 3);
  std::vector<EnergyBin> all;
  for (const auto& of_bath : bins) all.insert(all.end(), of_bath.begin(), of_bath.end());
  const Reweighting near = reweighting(beta, bins);
  for (const double off : {-300.0, 30.0, 300.0}) {
    const Reweighting far(beta, n, all, std::vector<double>{0.0, off, -off});
    ASSERT_TRUE(far.converged()) << off;
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(far.free_energies()[k], near.free_energies()[k], kOfFreeEnergies);
    }
  }
}

/// Baths without common energies: each bath uses its own samples, and few count in between.
TEST(MultiHistogram, AGapHasFewSamples) {
  const std::vector<double> beta{1000.0, 1.0};
  const MultiHistogram histogram = collected(beta, 4, 500, 2);
  const std::vector<double> g = histogram.statistical_inefficiencies();
  const auto result = histogram.result();
  EXPECT_TRUE(result->all().converged());
  // Two sums of 2000 weights, one of them squared.
  constexpr double kSums = 2000.0 * 4.0 * 2000.0 * test::kEpsilon;
  EXPECT_NEAR(result->all().at(1000.0).effective_samples, 2000.0 / g[0], kSums);
  EXPECT_LT(result->all().at(50.0).effective_samples, 100.0);
  EXPECT_NEAR(result->all().at(1.0).effective_samples, 2000.0 / g[1], kSums);
  // The variance of the square of a gamma variable's deviation: n (3 n + 6) - n^2 for the shape n.
  const double error = std::sqrt(kShape * (2.0 * kShape + 6.0) / 2000.0);
  EXPECT_NEAR(capacity(result->all(), 1000.0), kShape, 4.5 * error);
  EXPECT_NEAR(capacity(result->all(), 1.0), kShape, 4.5 * error);
}

/// Gamma distributions of one shape n and two temperatures: X > Y with the probability that a beta
/// variable is below T_x/(T_x + T_y), here of whole n by the binomial distribution of 2 n - 1.
double exact_acceptance(double colder_beta, double hotter_beta) {
  const double p = hotter_beta / (colder_beta + hotter_beta);
  const int n = static_cast<int>(kShape), trials = 2 * n - 1;
  double above = 0.0, choose = 1.0;
  for (int i = 0; i <= trials; ++i) {
    if (i >= n) above += choose * std::pow(p, i) * std::pow(1.0 - p, trials - i);
    choose = choose * (trials - i) / (i + 1);
  }
  return 2.0 * above;
}

TEST(MultiHistogram, AcceptanceOfAnyTwoBaths) {
  const std::vector<double> beta{4.0, 2.5, 1.7, 1.1};
  const auto result = collected(beta, 20, 800, 13).result();
  for (const auto& [colder, hotter] :
       {std::pair{4.0, 2.5}, {4.0, 1.1}, {3.0, 2.0}, {1.3, 1.1}, {2.0, 2.0}}) {
    const auto acceptance = [colder = colder, hotter = hotter](const Reweighting& r) {
      return r.acceptance(colder, hotter);
    };
    // Less than that of 16 000 pairs of independent samples.
    EXPECT_LT(expect_within_error(*result, acceptance, exact_acceptance(colder, hotter), 1e-12),
              0.5 / std::sqrt(20.0 * 800.0));
  }
  // Twelve terms with powers, of some 25 roundings each.
  EXPECT_NEAR(exact_acceptance(2.0, 2.0), 1.0, 12 * 25 * test::kEpsilon);
}

/// Of oscillators equal acceptances are equal ratios of the temperatures. A step's acceptance is
/// known to 4.5 standard errors, and the logarithm of its ratio to that over the slope; with both
/// ends fixed, the middle one of five temperatures is off by two steps at most.
TEST(MultiHistogram, AnEvenLadderOfOscillatorsIsGeometric) {
  const std::vector<double> beta{4.0, 2.2, 1.0};
  const auto result = collected(beta, 20, 1000, 17).result();
  const Reweighting& reweighting = result->all();
  constexpr double k = 0.5;
  const auto even = equal_acceptance_ladder(reweighting, k, 1.0 / (k * 4.0), 1.0 / (k * 1.0), 5);
  ASSERT_TRUE(even);
  ASSERT_EQ(even->temperatures_K.size(), 5u);
  const double ratio = std::sqrt(2.0);
  // Bisected to 1e-4, for which three steps before the last change it by as much each; temperatures
  // to 1e-5, and a slope of one at most.
  constexpr double kBisection = 1e-4, kLastStep = 4.0 * kBisection + 4.0 * 1e-5;
  double step_error = 0.0;
  for (int i = 1; i < 5; ++i) {
    const double colder = 4.0 / std::pow(ratio, i - 1);
    const auto acceptance = [&](const Reweighting& r) {
      return r.acceptance(colder, colder / ratio);
    };
    step_error = std::max(step_error, error(*result, acceptance));
  }
  const double exact = exact_acceptance(4.0, 4.0 / ratio),
               tolerance = 4.5 * step_error + kBisection;
  const double slope = (exact - exact_acceptance(4.0, 4.0 / (1.01 * ratio))) / std::log(1.01);
  EXPECT_NEAR(even->acceptance, exact, tolerance);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(std::log(even->temperatures_K[i] / 0.5), static_cast<double>(i) * std::log(ratio),
                2.0 * tolerance / slope);
    if (i == 0) continue;
    EXPECT_NEAR(reweighting.acceptance(1.0 / (k * even->temperatures_K[i - 1]),
                                       1.0 / (k * even->temperatures_K[i])),
                even->acceptance, kLastStep);
  }
  // Two baths are the ends, and what the samples say nothing of is not told.
  const auto two = equal_acceptance_ladder(reweighting, k, 0.5, 2.0, 2);
  EXPECT_EQ(two->temperatures_K, (std::vector<double>{0.5, 2.0}));
  const auto of_ends = [](const Reweighting& r) { return r.acceptance(4.0, 1.0); };
  expect_within_error(*result, of_ends, exact_acceptance(4.0, 1.0));
  EXPECT_NEAR(two->acceptance, of_ends(result->all()), kBisection);
  EXPECT_FALSE(equal_acceptance_ladder(reweighting, k, 0.01, 2.0, 4));
}

/// The coldest bath gives each of its samples 64 times over, however the ladders are: they are
/// worth a 64th, and the 64 samples that are all different do not drown in the others.
TEST(MultiHistogram, SamplesThatFollowEachOtherAreWorthLess) {
  const std::vector<double> beta{2.6, 2.0};
  constexpr int kRepeats = 64, kMoments = 64 * kRepeats, kRuns = 100;
  for (const std::int64_t ladders : {1, 8}) {
    double square = 0.0, g = 0.0, of_independent = 0.0;
    for (unsigned run = 0; run < kRuns; ++run) {
      std::vector<double> cold(static_cast<std::size_t>(ladders));
      std::int64_t calls = 0;
      const auto repeated = [&](Sample& s) {
        if (s.bath == 0) {
          double& energy = cold[static_cast<std::size_t>(s.ladder)];
          if (calls++ / ladders % kRepeats == 0) energy = s.energy;
          s.energy = energy;
        }
        return s.energy;
      };
      const auto moments = static_cast<int>(kMoments / ladders);
      const MultiHistogram h = collected(beta, ladders, moments, 300 + run, repeated);
      const std::vector<double> both = h.statistical_inefficiencies();
      g += both[0] / kRuns;
      of_independent += both[1] / kRuns;
      const auto mean = h.reweighting()->at(beta[0]).mean;
      square += std::pow(mean - kShape / beta[0], 2) / kRuns;
    }
    // g has 37 % of noise by 16 parts and 53 % by 8 whole ladders; the mean of the larger of two is
    // at most 0.6 standard deviations above theirs. Of 64 values the variance is 63/64.
    EXPECT_GT(g, kRepeats * (63.0 / 64.0 - 4.5 * 0.53 / std::sqrt(kRuns)));
    EXPECT_LT(g, kRepeats * (1.0 + 0.6 * 0.53 + 4.5 * 0.53 / std::sqrt(kRuns)));
    EXPECT_GE(of_independent, 1.0);
    EXPECT_LT(of_independent, 1.6);
    // 64 samples of the cold bath alone have the variance n kT^2/64. The hot one, of whose 4096
    // samples (2/2.6)^12 (3.2/2)^6 = 72 % are worth something there, leaves a fortieth of it.
    EXPECT_LT(square, 0.1 * kShape / (beta[0] * beta[0]) / 64.0);
  }
}

/// A = 2 U + 3 times noise: its mean changes with the temperature as its covariance with U says, n
/// for 1/beta^2 times 2, and not as its variance does.
TEST(MultiHistogram, HeatIsTheCovarianceWithTheEnergy) {
  const std::vector<double> beta{3.0, 2.4, 1.9};
  std::mt19937_64 random(21);
  std::normal_distribution<double> noise(0.0, 3.0);
  const auto noisy = [&](const Sample& s) { return 2.0 * s.energy + noise(random); };
  const auto result = collected(beta, 20, 1000, 22, noisy).result();
  for (const double b : {3.0, 2.7, 2.0}) {
    EXPECT_LT(expect_within_error(*result, capacity_at(b), 2.0 * kShape), 0.05 * kShape);
    expect_within_error(*result, mean_at(b), 2.0 * kShape / b);
    // The slope of the mean, by a difference that is off by (d/b)^2 of it.
    const double d = 1e-3;
    const double slope = (result->all().at(b + d).mean - result->all().at(b - d).mean) / (2.0 * d);
    EXPECT_NEAR(-slope, result->all().at(b).covariance, 1e-2 * std::abs(slope));
  }
}

/// A restart in the middle is bitwise exact, for parts by ladder and by time.
TEST(MultiHistogram, ContinuesFromASavedState) {
  const std::vector<double> beta{3.0, 2.0};
  for (const std::int64_t ladders : {1, 3, 16, 20}) {
    for (const int moments : {1, 31, 32, 33, 150}) {
      const std::vector<Sample> all = samples(beta, ladders, moments, 9);
      const std::size_t of_moment = 2 * static_cast<std::size_t>(ladders);
      MultiHistogram once(beta, ladders), twice(beta, ladders);
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (MultiHistogram* h : {&once, &twice}) {
          h->add(all[i].bath, all[i].ladder, all[i].energy, -all[i].energy);
          if ((i + 1) % of_moment == 0) h->end_step();
        }
        if (i == all.size() / 2) {
          MultiHistogram fresh(beta, ladders);
          const std::vector<double> memory = twice.memory();
          for (std::size_t k = 0; k < memory.size(); k += 7) {
            EXPECT_THROW(fresh.restore(std::span(memory).first(k)), LayoutError) << k;
          }
          fresh.restore(memory);
          twice = fresh;
        }
      }
      EXPECT_EQ(once.memory(), twice.memory());
      const auto a = once.result(), b = twice.result();
      EXPECT_EQ(a->all().at(2.5).mean, b->all().at(2.5).mean);
      EXPECT_EQ(error(*a, mean_at(2.5)), error(*b, mean_at(2.5)));
      EXPECT_EQ(a->has_errors(), ladders * moments > 1);
    }
  }
}

/// Steps added by several threads are the samples one by one, bitwise.
TEST(MultiHistogram, ThreadsChangeNoBit) {
  const std::vector<double> beta{3.0, 2.0, 1.0};
  for (const std::int64_t ladders : {1, 3, 16, 1000}) {
    const int moments = ladders < 16 ? 70 : 5;
    // So many that threads are used.
    const std::int64_t copies = 3000 / ladders + 1;
    MultiHistogram one_by_one(beta, ladders), two(beta, ladders), three(beta, ladders);
    for (int moment = 0; moment < moments; ++moment) {
      std::vector<MultiHistogram::Sample> step;
      for (std::int64_t i = 0; i < copies * ladders; ++i) {
        const double x = std::sin(static_cast<double>(7 * i + 13 * moment));
        step.push_back({static_cast<std::size_t>(i % 3), i % ladders, 5.0 * x, x * x});
      }
      step[1].energy = std::nan("");
      if (moment == 0) {  // a step whose samples are all ignored
        for (MultiHistogram::Sample& s : step) s.value = HUGE_VAL;
      }
      for (const MultiHistogram::Sample& s : step) {
        one_by_one.add(s.bath, s.ladder, s.energy, s.value);
      }
      one_by_one.end_step();
      two.add_step(step, 2);
      three.add_step(step, 3);
      EXPECT_EQ(two.empty(), moment == 0);
    }
    EXPECT_EQ(one_by_one.memory(), two.memory()) << ladders;
    EXPECT_EQ(one_by_one.memory(), three.memory()) << ladders;
  }
}

/// With one part there are no errors, and without samples no result; NaN is ignored.
TEST(MultiHistogram, WithoutEnough) {
  MultiHistogram h({2.0, 1.0}, 1);
  EXPECT_FALSE(h.result());
  h.add(0, 0, std::nan(""), 1.0);
  h.add(0, 0, 1.0, HUGE_VAL);
  h.add(0, 0, 1e300, 1.0);
  h.end_step();
  EXPECT_FALSE(h.result());
  h.add(0, 0, 1.0, 1.0);
  h.add(1, 0, 2.0, 2.0);
  const auto result = h.result();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->has_errors());
  EXPECT_EQ(error(*result, mean_at(1.5)), 0.0);
}

}  // namespace
}  // namespace tarn::analysis
