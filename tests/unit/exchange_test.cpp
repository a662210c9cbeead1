#include "tarn/exchange.hpp"

#include "core/bisect.hpp"
#include "exchange_states.hpp"
#include "physics/exchange.hpp"
#include "physics/temperature_ladder.hpp"
#include "testing.hpp"

// Equations (34) and (35): who changes places, and with what probability. Equation (36): at which
// temperatures.

namespace tarn {
namespace {

constexpr double kK = units::boltzmann_kcal_per_mol_K;

System ladder(const std::vector<double>& temperatures_K) {
  System s;
  s.integrator.scheme = Scheme::settle;
  s.thermostat.kind = Thermostat::gla;
  s.thermostat.temperatures_K = temperatures_K;
  s.seed = 7;
  return s;
}
/// A Frame of replicas 0, 1, ... with these energies.
Frame frame_of(std::int64_t step, const std::vector<double>& energies_kcal_per_mol) {
  Frame frame;
  frame.step = step;
  for (const double u : energies_kcal_per_mol) {
    frame.replica_ids.push_back(static_cast<std::int64_t>(frame.replica_ids.size()));
    Energies& e = frame.energies.emplace_back();
    e.potential_kcal_per_mol = u;
    e.kinetic_kcal_per_mol = 3.0 + u;  // counts for nothing
    e.total_kcal_per_mol = u + e.kinetic_kcal_per_mol;
  }
  return frame;
}

TEST(Exchange, ProbabilityIsThatOfMetropolis) {
  const System s = ladder({100.0, 150.0});
  const double b0 = 1.0 / (kK * 100.0), b1 = 1.0 / (kK * 150.0);
  for (const auto& [u0, u1] : {std::pair{-10.0, -9.0}, {-10.0, -9.9}, {-10.0, -5.0}}) {
    // The warm replica has the higher energy: against the odds. The cold one: always.
    const auto against = exchange_attempts(s, 10, frame_of(20, {u0, u1}));
    const auto with = exchange_attempts(s, 10, frame_of(20, {u1, u0}));
    ASSERT_EQ(against.size(), 1u);
    EXPECT_NEAR(against[0].probability, std::exp((b0 - b1) * (u0 - u1)), test::few_roundings());
    EXPECT_EQ(with[0].probability, 1.0);
    EXPECT_TRUE(with[0].accepted);
    // Detailed balance of the canonical distributions of both baths.
    EXPECT_NEAR(against[0].probability / with[0].probability,
                std::exp(-(b0 * u1 + b1 * u0)) / std::exp(-(b0 * u0 + b1 * u1)), 1e-13);
  }
  // Equal temperatures or energies.
  EXPECT_EQ(exchange_log_ratio(2.0, 2.0, -5.0, 7.0), 0.0);
  for (std::int64_t step = 20; step < 2000; step += 20) {
    EXPECT_TRUE(exchange_attempts(s, 10, frame_of(step, {1.0, 1.0})).at(0).accepted);
  }
  for (const auto& energies : {std::vector{NAN, 1.0}, {1.0, NAN}, {-INFINITY, INFINITY}}) {
    EXPECT_FALSE(exchange_attempts(s, 10, frame_of(20, energies)).at(0).accepted);
  }
}

TEST(Exchange, NeighboursTakeTurns) {
  const System s = ladder({10.0, 20.0, 30.0, 40.0});
  const std::vector<double> energies(8, 0.0);
  const auto lower_ids = [&](std::int64_t step, Frame frame) {
    frame.step = step;
    std::vector<std::int64_t> ids;
    for (const ExchangeAttempt& a : exchange_attempts(s, 5, frame)) {
      EXPECT_EQ(a.upper, a.lower + 1);
      ids.push_back(a.lower);
    }
    return ids;
  };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(lower_ids(5, frame_of(0, energies)), (Ids{1, 5}));
  EXPECT_EQ(lower_ids(10, frame_of(0, energies)), (Ids{0, 2, 4, 6}));
  EXPECT_EQ(lower_ids(15, frame_of(0, energies)), (Ids{1, 5}));
  // Replica 6 was stopped; 5 finds its neighbour wherever it stands.
  Frame frame = frame_of(0, energies);
  frame.replica_ids = {5, 3, 1, 7, 4, 0, 2};
  frame.energies.pop_back();
  EXPECT_EQ(lower_ids(10, frame), (Ids{4, 0, 2}));
  EXPECT_EQ(lower_ids(5, frame), (Ids{1}));
  // Partners have each other, in ladders of three; one temperature has none.
  EXPECT_EQ(exchange_partner(4, 3, 10, 20), 3);
  EXPECT_EQ(exchange_partner(3, 3, 10, 20), 4);
  EXPECT_EQ(exchange_partner(4, 3, 10, 10), 5);
  for (const std::size_t length : {0u, 1u}) EXPECT_FALSE(exchange_partner(0, length, 10, 0));
}

/// Energies of two harmonic baths, chi-squared of 2 n degrees, nearly normal: with equal spread s
/// and means apart by d = (b0 - b1) s^2, the mean probability is erfc((b0 - b1) s / 2).
TEST(Exchange, MeanAcceptanceOfNormalEnergies) {
  constexpr int kAttempts = 100'000;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0.0, 1.0);
  const System s = ladder({100.0, 120.0});
  const double difference = 1.0 / (kK * 100.0) - 1.0 / (kK * 120.0);
  for (const double spread : {0.3, 1.0, 2.5}) {
    double sum = 0.0, squares = 0.0, accepted = 0.0;
    for (int i = 1; i <= kAttempts; ++i) {
      const double cold = spread * normal(random);
      const double warm = spread * normal(random) + difference * spread * spread;
      const auto attempt = exchange_attempts(s, 1, frame_of(2 * i, {cold, warm}))[0];
      sum += attempt.probability;
      squares += attempt.probability * attempt.probability;
      accepted += attempt.accepted;
    }
    const double mean = sum / kAttempts;
    const double expected = std::erfc(0.5 * difference * spread);
    EXPECT_NEAR(mean, expected, 4.5 * std::sqrt((squares / kAttempts - mean * mean) / kAttempts));
    EXPECT_NEAR(accepted / kAttempts, expected,
                4.5 * std::sqrt(expected * (1.0 - expected) / kAttempts));
  }
}

TEST(Exchange, VelocitiesAreScaledToTheNewTemperature) {
  const System s = ladder({100.0, 225.0});
  const std::vector<ExchangeAttempt> attempts{{0, 1, 1.0, true}, {2, 3, 0.5, false}};
  const auto pairs = accepted_exchanges(s, attempts);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].first, 0);
  EXPECT_EQ(pairs[0].second, 1);
  // Replica 0, at 100 K, gets what was at 225 K.
  EXPECT_DOUBLE_EQ(pairs[0].to_first, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(pairs[0].to_second, 1.5);
}

TEST(Exchange, OfAState) {
  State s;
  s.molecules = 1;
  s.replica_ids = {4, 2, 9};
  s.heat_kcal_per_mol = {0.0, 1.0, 2.0};
  for (int k = 0; k < 27; ++k) {
    s.positions_A.push_back(k);
    s.velocities_A_per_akma.push_back(100.0 + k);
  }
  State t = s;
  test::exchange_states({}, t, std::vector<StateExchange>{{9, 4, 0.5, 2.0}});
  EXPECT_EQ(t.heat_kcal_per_mol, s.heat_kcal_per_mol);
  for (std::size_t k = 0; k < 27; ++k) {
    const std::size_t from = k < 9 ? k + 18 : k < 18 ? k : k - 18;
    EXPECT_EQ(t.positions_A[k], s.positions_A[from]);
    EXPECT_EQ(t.velocities_A_per_akma[k], (k < 9    ? 2.0
                                           : k < 18 ? 1.0
                                                    : 0.5) *
                                              s.velocities_A_per_akma[from]);
  }
  using Pairs = std::vector<StateExchange>;
  const State kept = t;
  for (const Pairs& wrong : {Pairs{{9, 5, 1.0, 1.0}}, Pairs{{9, 4, 1.0, 1.0}, {2, 9, 1.0, 1.0}},
                             Pairs{{2, 2, 1.0, 1.0}}}) {
    EXPECT_THROW(test::exchange_states({}, t, wrong), InputError);
  }
  EXPECT_EQ(t.positions_A, kept.positions_A);
}

/// What the energy of Newmark's family has beside the physical one is (b - 1/4) h^2/2 a.Ma with GLA
/// and b h^2/2 a.Ma with BAOAB.
TEST(Exchange, EnergyIsThatOfTheScheme) {
  EXPECT_EQ(exchange_energy(-5.0, -4.0, 0.45, false), -4.0);
  EXPECT_DOUBLE_EQ(exchange_energy(-5.0, -4.0, 0.45, true), -5.0 + 0.45 / 0.2);
  EXPECT_EQ(exchange_energy(-5.0, -5.0, 0.0, true), -5.0);
}

// --- ladders of temperatures ---

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
