#include "tarn/exchange.hpp"

#include "full_product.hpp"
#include "physics/exchange.hpp"
#include "quiet_run.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

// Averages by bath with replica exchange are those without, equations (34) and (35); with mistakes
// in it they are not.

namespace tarn {
namespace {

using Exchanger = std::function<std::vector<StateExchange>(const System&, const Frame&)>;
constexpr std::int64_t kEvery = 10;

std::vector<StateExchange> as_it_should(const System& system, const Frame& frame) {
  return accepted_exchanges(system, exchange_attempts(system, kEvery, frame));
}
std::vector<StateExchange> nobody(const System&, const Frame&) { return {}; }
/// Energies change their sign, and with them the exponent.
std::vector<StateExchange> with_the_wrong_sign(const System& system, Frame frame) {
  for (Energies& e : frame.energies) {
    const double kinetic = e.kinetic_kcal_per_mol;
    const double total = e.total_kcal_per_mol - kinetic;
    e.potential_kcal_per_mol *= -1.0;
    e.bond_kcal_per_mol *= -1.0;
    e.wall_kcal_per_mol *= -1.0;
    e.total_kcal_per_mol = kinetic - total;
  }
  return as_it_should(system, frame);
}
std::vector<StateExchange> with_velocities_as_they_are(const System& system, const Frame& frame) {
  std::vector<StateExchange> pairs = as_it_should(system, frame);
  for (StateExchange& pair : pairs) pair.to_first = pair.to_second = 1.0;
  return pairs;
}
/// The energy at the reported positions, without the last term of (35).
std::vector<StateExchange> with_the_reported_energy(const System& system, Frame frame) {
  for (Energies& e : frame.energies) {
    e.total_kcal_per_mol = e.kinetic_kcal_per_mol + e.potential_kcal_per_mol + e.bond_kcal_per_mol +
                           e.wall_kcal_per_mol;
  }
  return as_it_should(system, frame);
}

/// Means over time and replicas of a bath; replicas of one bath are of different ladders, and
/// independent.
struct Bath {
  analysis::MeanError potential, energy, temperature;
};

/// @param potential V0 [kcal/mol]; energy: (35) [kcal/mol]
std::vector<Bath> run(const Deck& deck, const Exchanger& exchanger) {
  const int molecules = deck.system.molecules;
  const System system = make_system(deck, molecules);
  const auto engine = make_cpu_engine(system, make_start(deck).state, {}, 0);
  const auto replicas = static_cast<std::size_t>(deck.system.replicas);
  std::vector<double> potential(replicas), energy(replicas), temperature(replicas);
  double samples = 0.0;
  const bool baoab = system.thermostat.kind == Thermostat::baoab;
  const double b = has_beta(system.integrator.scheme) ? system.integrator.beta : 0.0;
  const std::int64_t first = first_averaged_step(deck);
  Frame frame;
  while (engine->step() < deck.run.steps) {
    engine->advance(kEvery);
    engine->snapshot(kEnergies, frame);
    if (engine->step() > first) {
      samples += 1.0;
      for (std::size_t r = 0; r < replicas; ++r) {
        const Energies& e = frame.energies[r];
        potential[r] += e.potential_kcal_per_mol;
        energy[r] +=
            exchange_energy(e.potential_kcal_per_mol + e.bond_kcal_per_mol + e.wall_kcal_per_mol,
                            e.total_kcal_per_mol - e.kinetic_kcal_per_mol, b, baoab);
        temperature[r] += e.temperature_K;
      }
    }
    engine->exchange(exchanger(system, frame));
  }
  EXPECT_TRUE(engine->blow_ups().empty());
  const std::size_t n = deck.thermostat.temperatures_K.size();
  std::vector<Bath> baths;
  for (std::size_t k = 0; k < n; ++k) {
    const auto of_bath = [&](const std::vector<double>& sums) {
      std::vector<double> means;
      for (std::size_t r = k; r < replicas; r += n) means.push_back(sums[r] / samples);
      return analysis::mean_and_error(means);
    };
    baths.push_back({of_bath(potential), of_bath(energy), of_bath(temperature)});
  }
  return baths;
}

/// What is right stays below it, in standard errors; twelve numbers exceed it once in 10^4 runs.
/// Every mistake is so large that about 9 are expected: it is missed as rarely.
constexpr double kSigmas = 4.5;

/// In standard errors.
double deviation(const analysis::MeanError& a, const analysis::MeanError& b) {
  return std::abs(a.mean - b.mean) / std::hypot(a.error, b.error);
}
double worst(const std::vector<Bath>& a, const std::vector<Bath>& b,
             analysis::MeanError Bath::*what) {
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, deviation(a[k].*what, b[k].*what));
  }
  return largest;
}

Deck deck_of(const std::string& integrator, const std::string& thermostat, int molecules,
             int replicas, int steps) {
  return parse_deck("[system]\nmolecules = " + std::to_string(molecules) +
                        "\nreplicas = " + std::to_string(replicas) + "\n[integrator]\n" +
                        integrator + "[thermostat]\n" + thermostat +
                        "[confinement]\nradius_A = 4.0\nstiffness_kcal_per_mol_A2 = 5.0\n"
                        "[run]\nsteps = " +
                        std::to_string(steps) + "\nequilibration_ps = 10.0\n",
                    "exchange.toml");
}

constexpr const char* kGla =
    "kind = \"gla\"\nfriction_per_ps = 2.0\ntemperatures_K = [200.0, 250.0, 310.0]\n";
constexpr const char* kBaoab =
    "kind = \"baoab\"\nfriction_per_ps = 2.0\ntemperatures_K = [200.0, 250.0, 310.0]\n";

/// Two and three molecules that melt within picoseconds at these temperatures.
TEST(Exchange, AveragesByBathEqualThoseWithoutExchange) {
  struct Case {
    const char *integrator, *thermostat;
    int molecules;
  };
  for (const Case& c : {Case{"scheme = \"settle\"\n", kBaoab, 3},
                        {"scheme = \"shake\"\n", kGla, 2},
                        {"scheme = \"zss-stiff\"\nomega = 50.0\ntimestep_fs = 1.0\n", kGla, 2},
                        {"scheme = \"zss-stiff\"\nomega = \"infinite\"\n", kBaoab, 2}}) {
    // Other tests exchange rigid molecules too.
    if (std::string(c.integrator).find("zss") == std::string::npos && !test::covers_everything()) {
      continue;
    }
    SCOPED_TRACE(c.integrator);
    const Deck deck = deck_of(c.integrator, c.thermostat, c.molecules, 192, 25'000);
    const auto with = run(deck, as_it_should), without = run(deck, nobody);
    EXPECT_LT(worst(with, without, &Bath::potential), kSigmas);
    EXPECT_LT(worst(with, without, &Bath::energy), kSigmas);
    EXPECT_LT(worst(with, without, &Bath::temperature), kSigmas);
  }
}

/// What a run says of a better ladder is what comes of it: all neighbours change places with the
/// probability that was told.
TEST(Exchange, TheEvenLadderIsEven) {
  const auto summary_of = [](Deck deck) {
    const test::ScratchFolder folder;
    return run_deck(deck, test::quiet_run(folder.file("out"))).exchange.value();
  };
  const std::string thermostat = "kind = \"baoab\"\nfriction_per_ps = 2.0\ntemperatures_K = ";
  const std::string settle = "scheme = \"settle\"\n";
  const std::string exchange = "[exchange]\nevery = 10\n";
  const ExchangeSummary uneven = summary_of(
      deck_of(settle, thermostat + "[150.0, 160.0, 200.0, 290.0]\n" + exchange, 3, 160, 20'000));
  double largest_error = 0.0;
  for (const ExchangePair& p : uneven.pairs) largest_error = std::max(largest_error, p.error);
  EXPECT_GT(uneven.pairs[0].acceptance - uneven.pairs[2].acceptance, 0.3);
  ASSERT_TRUE(uneven.equal_acceptance_ladder);
  EXPECT_EQ(uneven.equal_acceptance_ladder->temperatures_K.front(), 150.0);
  EXPECT_EQ(uneven.equal_acceptance_ladder->temperatures_K.back(), 290.0);
  const ExchangeSummary even = summary_of(deck_of(
      settle,
      thermostat +
          fmt::format("[{}]\n", fmt::join(uneven.equal_acceptance_ladder->temperatures_K, ", ")) +
          exchange,
      3, 160, 20'000));
  for (const ExchangePair& p : even.pairs) {
    EXPECT_NEAR(p.acceptance, uneven.equal_acceptance_ladder->acceptance,
                4.5 * std::hypot(p.error, largest_error));
    EXPECT_LT(p.error, 0.02);  // where uneven ones are 0.3 apart
  }
}

TEST(Exchange, DetectsAWrongSignAndUnscaledVelocities) {
  const Deck deck = deck_of("scheme = \"settle\"\n", kBaoab, 2, 192, 15'000);
  const auto without = run(deck, nobody);
  EXPECT_LT(worst(run(deck, as_it_should), without, &Bath::temperature), kSigmas);
  EXPECT_GT(worst(run(deck, with_the_wrong_sign), without, &Bath::potential), kSigmas);
  EXPECT_GT(worst(run(deck, with_velocities_as_they_are), without, &Bath::temperature), kSigmas);
}

/// One molecule has three stiff vibrations and nothing else: U is some 3/2 kT. What is left out of
/// (35) would make cold bonds too hot.
TEST(Exchange, StiffBondsHaveTheTemperatureOfTheirBath) {
  struct Case {
    const char *integrator, *thermostat;
    bool by_day;
  };
  for (const Case& c : {Case{"scheme = \"zss-stiff\"\nomega = 200.0\n", kGla, true},
                        {"scheme = \"zss-stiff\"\nomega = \"infinite\"\n", kGla, false},
                        {"scheme = \"zss-stiff\"\nomega = 200.0\n", kBaoab, false},
                        {"scheme = \"pushforward-newmark\"\nomega = 200.0\n", kBaoab, true}}) {
    if (!c.by_day && !test::covers_everything()) continue;
    SCOPED_TRACE(std::string(c.thermostat) + c.integrator);
    const Deck deck = deck_of(c.integrator, c.thermostat, 1, 300, 20'000);
    const auto without = run(deck, nobody), with = run(deck, as_it_should);
    EXPECT_LT(worst(with, without, &Bath::energy), kSigmas);
    EXPECT_GT(worst(run(deck, with_the_reported_energy), without, &Bath::energy), kSigmas);
    for (std::size_t k = 0; k < 3; ++k) {
      // What is not linear, of turning molecules, adds 2 to 3 % to it with GLA, of order h^2.
      const double expected =
          1.5 * units::boltzmann_kcal_per_mol_K * deck.thermostat.temperatures_K[k];
      EXPECT_NEAR(with[k].energy.mean / expected, 1.0,
                  0.03 + 4.5 * with[k].energy.error / expected);
    }
  }
}

Deck ring_ladder_deck(const std::string& more) {
  return parse_deck(
      "[system]\nmodel = \"qspcfw\"\nmolecules = 1\nreplicas = 144\n[integrator]\nscheme = "
      "\"verlet\"\n[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 5.0\ntemperatures_K = [200, "
      "240, 290]\n[path_integral]\nbeads = 6\n[run]\nequilibration_ps = 1.0\nduration_ps = "
      "8.0\n[observe.path_integral]\nevery = 20\nreplicas = \"mean\"\n" +
          more,
      "deck.toml");
}

/// One molecule of harmonic bonds: averages at each temperature with and without exchange.
TEST(RingExchange, KeepsTheAveragesOfAllTemperatures) {
  const test::ScratchFolder folder;
  std::vector<AveragedQuantity> averages[2];
  for (const bool exchange : {false, true}) {
    const RunResult result = run_deck(ring_ladder_deck(exchange ? "[exchange]\nevery = 10\n" : ""),
                                      test::quiet_run(folder.file(exchange ? "with" : "without")));
    averages[exchange] = result.averages;
    if (!exchange) continue;
    ASSERT_TRUE(result.exchange);
    for (const ExchangePair& pair : result.exchange->pairs) {
      EXPECT_GT(pair.acceptance, 0.4);
      EXPECT_LT(pair.acceptance, 0.99);
    }
    EXPECT_GT(result.exchange->round_trips, 100);
  }
  int compared = 0;
  for (const AveragedQuantity& with : averages[true]) {
    for (const AveragedQuantity& without : averages[false]) {
      if (with.quantity != without.quantity || with.bath_K != without.bath_K ||
          with.table != without.table || !(without.error > 0.0)) {
        continue;
      }
      EXPECT_NEAR(with.mean, without.mean, 4.5 * std::hypot(with.error, without.error))
          << with.quantity << " at " << with.bath_K.value_or(0.0) << " K";
      ++compared;
    }
  }
  EXPECT_GE(compared, 3 * 8);
}

/// The mean of exp(-Delta) over attempts in equilibrium is 1.
TEST(RingExchange, HasDetailedBalance) {
  const Deck deck = ring_ladder_deck("");
  const Start start = make_start(deck);
  const System system = make_system(deck, 1);
  const auto engine = make_engine(system, start.state, {}, {"cpu", 2});
  constexpr std::int64_t kInterval = 50;
  MeasureSettings settings;
  settings.exchange_every = kInterval;
  engine->measure_with(settings);
  engine->advance(2000);
  std::map<std::int64_t, std::pair<double, int>> of_ladder;
  for (int k = 0; k < 300; ++k) {
    engine->advance(kInterval);
    Frame f;
    engine->snapshot(kExchangeEnergies | kRescaledEnergies, f);
    for (const ExchangeAttempt& attempt : exchange_attempts(system, kInterval, f)) {
      const auto lower = static_cast<std::size_t>(attempt.lower);
      const auto beta = [&](std::int64_t id) {
        return 1.0 / (units::boltzmann_kcal_per_mol_K * replica_temperature_K(system, id));
      };
      const auto& own = f.exchange_energies_kcal_per_mol;
      const auto& rescaled = f.rescaled_energies_kcal_per_mol;
      const double ratio =
          ring_exchange_log_ratio(beta(attempt.lower), beta(attempt.upper), own[lower],
                                  own[lower + 1], rescaled[lower + 1], rescaled[lower]);
      EXPECT_DOUBLE_EQ(attempt.probability, std::min(1.0, std::exp(ratio)));
      auto& [sum, count] = of_ladder[attempt.lower / 3];
      sum += std::exp(ratio);
      ++count;
    }
  }
  double mean = 0.0, squares = 0.0;
  for (const auto& [ladder, sum] : of_ladder) {
    const double of_one = sum.first / sum.second;
    mean += of_one;
    squares += of_one * of_one;
  }
  const double ladders = static_cast<double>(of_ladder.size());
  mean /= ladders;
  const double error = std::sqrt((squares / ladders - mean * mean) / (ladders - 1.0));
  EXPECT_EQ(of_ladder.size(), 48u);
  // About 0.02, known to 10 % from 48 ladders; 4.5 standard errors more are 0.03.
  EXPECT_LT(error, 0.03);
  EXPECT_NEAR(mean, 1.0, 4.5 * error);
}

}  // namespace
}  // namespace tarn
