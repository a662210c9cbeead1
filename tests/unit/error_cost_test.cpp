#include "compare/scheme_run.hpp"
#include "tarn/compare.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

DistanceHistogram distances(std::vector<std::vector<double>> groups) {
  DistanceHistogram d;
  d.group_counts = std::move(groups);
  d.counts.assign(d.group_counts.front().size(), 0.0);
  for (const auto& group : d.group_counts) {
    for (std::size_t b = 0; b < group.size(); ++b) d.counts[b] += group[b];
  }
  return d;
}

TEST(ErrorCost, TotalVariationAndItsJackknife) {
  // Shares 3/4, 1/4 against halves; without the first group 1, 0, without the second 2/3, 1/3.
  // Two groups alike, of which it does not matter which one is left out.
  const auto exact = [](double first, double second) {
    return distances({{first, second}, {first, second}});
  };
  const analysis::MeanError e =
      total_variation_and_error(distances({{2.0, 1.0}, {1.0, 0.0}}), exact(5.0, 5.0));
  EXPECT_DOUBLE_EQ(e.mean, 0.25);
  EXPECT_NEAR(e.error, 1.0 / 6.0, test::few_roundings());
  // The error of the reference counts as much: both have it, and they are independent.
  const DistanceHistogram a = distances({{2.0, 1.0}, {1.0, 0.0}}),
                          b = distances({{1.0, 1.0}, {0.0, 2.0}});
  const double of_a = total_variation_and_error(a, exact(1.0, 3.0)).error;
  const double of_b = total_variation_and_error(b, exact(3.0, 1.0)).error;
  EXPECT_GT(of_a, 0.0);
  EXPECT_GT(of_b, 0.0);
  EXPECT_NEAR(total_variation_and_error(a, b).error, std::hypot(of_a, of_b), test::few_roundings());
  EXPECT_DOUBLE_EQ(total_variation_and_error(a, b).error, total_variation_and_error(b, a).error);
}

/// Groups without a replica, as of fewer replicas than groups, are none; one alone tells no error.
TEST(ErrorCost, EmptyGroupsHaveNoResult) {
  const DistanceHistogram reference = distances({{5.0, 5.0}, {5.0, 5.0}});
  const DistanceHistogram full = distances({{2.0, 1.0}, {1.0, 0.0}});
  const DistanceHistogram some = distances({{2.0, 1.0}, {0.0, 0.0}, {1.0, 0.0}, {0.0, 0.0}});
  EXPECT_DOUBLE_EQ(total_variation_and_error(some, reference).error,
                   total_variation_and_error(full, reference).error);
  const DistanceHistogram one = distances({{2.0, 1.0}, {0.0, 0.0}});
  for (const analysis::MeanError& e :
       {total_variation_and_error(one, reference), total_variation_and_error(reference, one)}) {
    EXPECT_NEAR(e.mean, 1.0 / 6.0, test::few_roundings());
    EXPECT_TRUE(std::isnan(e.error)) << e.error;
  }
  SchemeResult of_one;
  of_one.oo_total_variation_err = total_variation_and_error(one, reference).error;
  EXPECT_FALSE(is_error_below(of_one, ErrorMeasure::distance, 1.0));
  DistanceHistogram a, b;
  a.error_per_A = {0.0, 0.0};
  b.error_per_A = {0.1, 0.1};
  EXPECT_TRUE(std::isnan(total_variation_noise(a, b, 0.1)));
}

/// Histograms of two samples of one distribution: bins with independent errors.
TEST(ErrorCost, NoiseIsTheMeanDistanceOfEqualDistributions) {
  constexpr int kBins = 20, kTimes = 2000;
  constexpr double kWidth_A = 0.25;
  DistanceHistogram a, b;
  for (int k = 0; k < kBins; ++k) {
    a.error_per_A.push_back(0.01 * (1 + k % 3));
    b.error_per_A.push_back(0.02);
  }
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < kTimes; ++i) {
    double distance = 0.0;
    for (int k = 0; k < kBins; ++k) {
      const double p = a.error_per_A[k] * normal(random), q = b.error_per_A[k] * normal(random);
      distance += 0.5 * kWidth_A * std::abs(p - q);
    }
    sum += distance;
    squares += distance * distance;
  }
  const double mean = sum / kTimes;
  const double error = std::sqrt((squares / kTimes - mean * mean) / kTimes);
  EXPECT_NEAR(total_variation_noise(a, b, kWidth_A), mean, 4.5 * error);
}

SchemeResult scheme(const char* label, double us_per_ps, double us_per_ps_err,
                    const analysis::MeanError& potential_difference_kcal_per_mol = {}) {
  SchemeResult s;
  s.label = label;
  s.us_per_ps = us_per_ps;
  s.us_per_ps_err = us_per_ps_err;
  // At which 3 (N - 1) kT of eleven molecules is 10 kcal/mol.
  s.temperature_K.mean = 10.0 / (30.0 * units::boltzmann_kcal_per_mol_K);
  s.potential_difference_kcal_per_mol = potential_difference_kcal_per_mol;
  s.oo_total_variation = 0.03;
  s.oo_total_variation_err = s.oo_total_variation_noise = 0.0;
  return s;
}
CheapestScheme cheapest(const std::vector<SchemeResult>& all, const std::string& within) {
  for (const CheapestScheme& best : cheapest_schemes(all, 11)) {
    if (best.within == within) return best;
  }
  return {"no such row", "no such row"};
}

TEST(ErrorCost, TheCheapestIsTheFastestWithinTheTolerance) {
  std::vector<SchemeResult> all{scheme("reference", 1.0, 0.0),
                                scheme("exact", 90.0, 0.0, {0.01, 0.0}),
                                scheme("good", 50.0, 0.0, {-0.5, 0.2}),
                                scheme("vague", 40.0, 0.0, {0.5, 0.3}), scheme("lost", 1.0, 0.0)};
  all.back().blow_ups.emplace_back();
  const auto row = [&](const std::string& within) { return cheapest(all, within); };
  EXPECT_EQ(row("<V0> to 30 % of 3(N-1)kT").label, "vague");
  // 0.5 + 2 x 0.3 kcal/mol is more than one, and 0.5 - 2 x 0.3 less: the fastest may be accurate.
  // Noise of half a kcal/mol takes (2 x 0.3 / 0.5)^2 times as long.
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").label, "");
  EXPECT_NEAR(row("<V0> to 10 % of 3(N-1)kT").times_longer, 1.44, test::few_roundings(1.44));
  EXPECT_NEAR(row("<V0> to 3 % of 3(N-1)kT").times_longer, 16.0, test::few_roundings(16.0));
  EXPECT_EQ(cheapest_schemes(all, 1).front().within, "OO histogram to 0.05");
  EXPECT_EQ(row("OO histogram to 0.05").label, "vague");
  EXPECT_EQ(row("OO histogram to 0.02").label, "");
  EXPECT_EQ(row("OO histogram to 0.02").times_longer, 1.0) << "0.03, without noise";

  // Errors that are known better decide it: the fastest is not accurate enough.
  all[3].potential_difference_kcal_per_mol = {1.5, 0.2};
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").label, "good");
  // A slower scheme need not be resolved.
  all[1].potential_difference_kcal_per_mol = {0.5, 0.3};
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").label, "good");
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").times_longer, 1.0);
}

/// A distance of 0.03 is what equal distributions have with noise of 0.03: nothing is known about
/// a limit of 0.02.
TEST(ErrorCost, DistancesWithinTheirNoiseAreNotResolved) {
  SchemeResult s;
  s.oo_total_variation = 0.03;
  s.oo_total_variation_err = 0.001;
  const auto longer = [&](double limit) {
    return times_longer_to_resolve(s, ErrorMeasure::distance, limit);
  };
  s.oo_total_variation_noise = 0.03;
  EXPECT_EQ(longer(0.05), 1.0);
  EXPECT_NEAR(longer(0.02), 0.032 * 0.032 / (0.01 * 0.01), test::few_roundings(10.24));
  s.oo_total_variation_noise = 0.005;
  EXPECT_EQ(longer(0.02), 1.0) << "well above it";
  s.oo_total_variation_err = s.oo_total_variation_noise = std::nan("");
  EXPECT_TRUE(std::isinf(longer(0.05))) << "of one replica";
}

TEST(ErrorCost, CostsWithinTheirErrorsAreTies) {
  // 20 is twice the error of the difference of the fastest and the first of these.
  std::vector<SchemeResult> all{scheme("reference", 1.0, 0.0),
                                scheme("slower", 120.5, 8.0),
                                scheme("as fast", 119.5, 8.0),
                                scheme("fastest", 100.0, 6.0),
                                scheme("not known", 101.0, std::nan("")),
                                scheme("vague", 130.0, 30.0)};
  const auto row = [&](const std::string& within) { return cheapest(all, within); };
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").label, "fastest");
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").us_per_ps_err, 6.0);
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").ties, (std::vector<std::string>{"as fast", "vague"}));
  EXPECT_TRUE(row("OO histogram to 0.02").ties.empty());
  // Only those that are within can be.
  all[2].potential_difference_kcal_per_mol.mean = 2.0;
  EXPECT_EQ(row("<V0> to 10 % of 3(N-1)kT").ties, std::vector<std::string>{"vague"});
  EXPECT_EQ(row("<V0> to 30 % of 3(N-1)kT").ties, (std::vector<std::string>{"as fast", "vague"}));
}

// --- conservation of energy ---

/// Energies and momenta of replicas 0, 1, ...
Frame frame(const std::vector<double>& energies, double momentum = 0.0, double angular = 0.0) {
  Frame f;
  for (std::size_t r = 0; r < energies.size(); ++r) {
    f.replica_ids.push_back(static_cast<std::int64_t>(r));
    Conservation c;
    c.energy_kcal_per_mol = energies[r];
    c.momentum_Da_A_per_akma = {1.0 + momentum, 0.0, 0.0};
    c.angular_momentum_Da_A2_per_akma = {0.0, 0.6 * angular, 2.0 - 0.8 * angular};
    f.conservation.push_back(c);
  }
  return f;
}

TEST(EnergyConservation, ChangesSinceTheFirstSample) {
  EnergyConservation c;
  c.add(frame({-50.0, -40.0}));
  c.add(frame({-49.0, -43.0}, 0.5, 0.25));
  c.add(frame({-52.0, -40.0}, -0.25, 0.125));
  const EnergyConservation::Result r = c.result();
  // Mean squares (0 + 1 + 4)/3 and (0 + 9 + 0)/3: their mean 7/3 has the error 2/3.
  EXPECT_DOUBLE_EQ(r.rms.mean, std::sqrt(7.0 / 3.0));
  EXPECT_NEAR(r.rms.error, 2.0 / 3.0 / (2.0 * std::sqrt(7.0 / 3.0)), 1e-15);
  EXPECT_DOUBLE_EQ(r.max, 3.0);
  EXPECT_DOUBLE_EQ(r.momentum_max, 0.5);
  EXPECT_NEAR(r.angular_max, 0.25, test::few_roundings());
  // Slopes -1 and 0.
  EXPECT_DOUBLE_EQ(r.drift.mean, -0.5);
  EXPECT_DOUBLE_EQ(r.drift.error, 0.5);
}

TEST(EnergyConservation, OnlyReplicasThatAreLeftCount) {
  EnergyConservation c;
  EXPECT_TRUE(std::isnan(c.result().rms.mean));
  EXPECT_TRUE(std::isnan(c.result().max));
  c.add(frame({0.0, 0.0}));
  EXPECT_TRUE(std::isnan(c.result().rms.mean)) << "there is no change yet";
  c.add(frame({1.0, 1e9}));
  EXPECT_TRUE(std::isnan(c.result().drift.mean)) << "a line needs three points";
  c.add(frame({0.0}));
  const EnergyConservation::Result r = c.result();
  EXPECT_DOUBLE_EQ(r.max, 1.0);
  EXPECT_DOUBLE_EQ(r.rms.mean, std::sqrt(1.0 / 3.0));
  EXPECT_EQ(r.rms.error, 0.0) << "of one replica it is not known";
}

TEST(EnergyConservation, OrdersOmitLostReplicas) {
  std::vector<SchemeResult> schemes;
  const auto add = [&](const char* curve, double step_fs, double change) {
    schemes.emplace_back().timestep_fs = step_fs;
    schemes.back().curve = curve;
    schemes.back().energy_rms_kcal_per_mol.mean = change;
  };
  for (const double step_fs : {0.5, 1.0, 2.0}) add("a", step_fs, 3e-4 * step_fs * step_fs);
  add("a", 4.0, 1e9);
  schemes.back().blow_ups.emplace_back();
  for (const double step_fs : {0.5, 1.0, 2.0}) add("b", step_fs, 1e-5 * std::pow(step_fs, 3));
  const std::vector<SchemeOrder> orders = energy_orders(schemes);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].quantity, "energy");
  // Exact powers, up to the rounding of logarithms.
  EXPECT_NEAR(orders[0].fit.order, 2.0, 1e-12);
  EXPECT_EQ(orders[0].fit.points, 3u);
  EXPECT_NEAR(orders[1].fit.order, 3.0, test::few_roundings(10.0));
}

}  // namespace
}  // namespace tarn
