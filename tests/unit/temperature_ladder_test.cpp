#include "physics/temperature_ladder.hpp"

#include "core/bisect.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

AcceptanceEstimate classical(const char* model, int molecules) {
  return AcceptanceEstimate(*find_water_model(model), molecules, trotter_ring(1));
}

/// Equation (36) for the standard deviation of n molecules with a heat capacity of 5 k each.
TEST(AcceptanceEstimate, IsThatOfNormalEnergies) {
  const double estimate = classical("tip3p", 8)(200.0, 230.0);
  EXPECT_NEAR(estimate, std::erfc(0.5 * std::sqrt(8 * 5.0) * std::log(230.0 / 200.0)), 1e-14);
  EXPECT_EQ(classical("tip3p", 8)(200.0, 200.0), 1.0);
  // The potential energies of three classical vibrations add k/2 each. Equation (89) has
  // (T_j - T_i)^2 / (T_i T_j) for the square of the logarithm, 5e-5 of it more here.
  const double flexible = classical("qtip4pf", 8)(200.0, 205.0);
  EXPECT_NEAR(flexible, std::erfc(0.5 * std::sqrt(8 * 6.5) * std::log(205.0 / 200.0)), 1e-4);
}

TEST(TemperatureLadder, HasTheFewestTemperatures) {
  for (const char* model : {"tip3p", "qtip4pf"}) {
    for (const int molecules : {1, 8, 216, 100'000}) {
      for (const double wanted : {0.05, 0.3, 0.9}) {
        const AcceptanceEstimate estimate = classical(model, molecules);
        const std::vector<double> ladder = temperature_ladder(estimate, 150.0, 300.0, wanted);
        EXPECT_EQ(ladder.front(), 150.0);
        EXPECT_EQ(ladder.back(), 300.0);
        EXPECT_TRUE(std::ranges::is_sorted(ladder));
        const std::vector<double> all = ladder_acceptances(estimate, ladder);
        // All intervals are shortened by the same factor of their logarithms.
        EXPECT_GE(std::ranges::min(all), wanted - 1e-2);
        EXPECT_LE(std::ranges::max(all) - std::ranges::min(all), 0.1);
        if (ladder.size() < 3) continue;
        // With one interval fewer they would be too wide, if found exactly; they are found to 5 %.
        const auto n = static_cast<double>(all.size());
        EXPECT_LT(estimate(150.0, 150.0 * std::pow(2.0, 1.06 / (n - 1.0))), wanted);
      }
    }
  }
}

TEST(TemperatureLadder, RefusesWhatNoLadderHas) {
  const AcceptanceEstimate estimate = classical("tip3p", 8);
  EXPECT_THROW(temperature_ladder(estimate, 0.0, 300.0), InputError);
  EXPECT_THROW(temperature_ladder(estimate, 300.0, 150.0), InputError);
  EXPECT_THROW(temperature_ladder(estimate, 150.0, std::nan("")), InputError);
  for (const double wanted : {0.0, 1.0, std::nan("")}) {
    EXPECT_THROW(temperature_ladder(estimate, 150.0, 300.0, wanted), InputError);
  }
  EXPECT_THROW(temperature_ladder(classical("tip3p", 1'000'000), 1.0, 300.0, 1.0 - 1e-9),
               InputError);
  EXPECT_EQ(temperature_ladder(estimate, 300.0, 300.0), std::vector<double>{300.0});
}

/// erfc(x) falls with the interval, to which x is proportional.
TEST(TemperatureLadder, CountsIntervals) {
  for (const double measured : {1e-8, 1e-3, 0.05}) {
    const int n = intervals_for_acceptance(measured, 0.3);
    double x = 0.0;
    while (std::erfc(x) > measured) x += 1e-4;
    EXPECT_GE(std::erfc((x + 0.01) / n), 0.3);
    EXPECT_LT(n > 2 ? std::erfc(x / (n - 1)) : 0.0, 0.3);
  }
}

TEST(Bisect, FindsWhereAConditionEnds) {
  const auto wide = [](auto low, auto high) { return high - low > 1; };
  EXPECT_EQ(bisect(0, 100, wide, [](int k) { return k < 42; }), std::pair(41, 42));
  EXPECT_EQ(bisect(3, 3, wide, [](int) { return true; }), std::pair(3, 3));
  // Ends at neighbouring numbers, however narrow the interval is to be.
  const auto [low, high] = bisect(
      1.0, 2.0, [](double, double) { return true; }, [](double x) { return x * x < 2.0; });
  EXPECT_EQ(high, std::nextafter(low, 2.0));
  EXPECT_LT(low * low, 2.0);
  EXPECT_GE(high * high, 2.0);
}

}  // namespace
}  // namespace tarn
