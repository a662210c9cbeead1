

#include "csv_columns.hpp"
#include "csv_reader.hpp"
#include "observe/observable.hpp"
#include "observe/trajectory_frames.hpp"
#include "observer_of.hpp"
#include "run/run_observers.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr std::int64_t kEvery = 10;
constexpr double kStep_fs = 2.0;

/// Molecules of replica r that are gone at a step.
using Gone = std::function<std::vector<int>(std::int64_t r, std::int64_t step)>;
std::vector<int> none_gone(std::int64_t, std::int64_t) { return {}; }

using Numbers = std::vector<double>;

/// Clusters of four molecules in a row, 3 A apart.
class EvaporationObserverTest : public ::testing::Test {
 protected:
  static Deck deck(int replicas, const std::string& thermostat = "", const std::string& more = "") {
    return parse_deck(
        fmt::format("[system]\nmolecules = 4\nreplicas = {}\n[integrator]\nscheme = \"settle\"\n"
                    "timestep_fs = 2.0\n{}[run]\nsteps = 100000\n{}[observe.evaporation]\n"
                    "every = 10\n",
                    replicas, thermostat, more),
        "test.toml");
  }
  static std::string baths(const std::string& temperatures_K) {
    return "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\ntemperatures_K = [" +
           temperatures_K + "]\n";
  }
  std::unique_ptr<Observer> observer(const Deck& d) { return observer_of(d, folder_.path()); }
  /// Who is gone is 20 A away, and moves at 0.1 A/akma along x.
  static Frame frame(std::int64_t step, const std::vector<std::int64_t>& ids, const Gone& gone) {
    Frame f;
    f.step = step;
    f.molecules = 4;
    f.replica_ids = ids;
    for (const std::int64_t id : ids) {
      const std::vector<int> away = gone(id, step);
      for (int m = 0; m < 4; ++m) {
        const bool is_gone = std::ranges::find(away, m) != away.end();
        for (int atom = 0; atom < 3; ++atom) {
          f.positions_A.insert(f.positions_A.end(), {3.0 * m, 0.1 * atom, is_gone ? 20.0 : 0.0});
          // Atoms swing about their centre of mass, which stays where it is.
          const double swing = atom == 0 ? -units::mass_hydrogen_Da : units::mass_oxygen_Da / 2.0;
          f.velocities_A_per_akma.insert(f.velocities_A_per_akma.end(),
                                         {is_gone ? 0.1 : 0.0, 0.01 * swing, 0.0});
        }
      }
      // Bound by 8 kcal/mol a molecule.
      f.energies.emplace_back().potential_kcal_per_mol =
          -8.0 * static_cast<double>(4 - away.size()) - 0.1 * static_cast<double>(id);
    }
    PositionMeasures(tip3p(), {}).fill(kParts, f);
    return f;
  }
  static void see(Observer& observer, std::int64_t first, std::int64_t last,
                  const std::vector<std::int64_t>& ids, const Gone& gone) {
    for (std::int64_t step = first; step <= last; step += kEvery) {
      observer.observe(frame(step, ids, gone));
    }
  }
  static std::vector<std::int64_t> all_ids(const Deck& d) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(d.system.replicas));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }
  /// An observer of all replicas from step 0 to `last`.
  std::unique_ptr<Observer> finished(const Deck& d, std::int64_t last, const Gone& gone) {
    auto o = observer(d);
    o->begin();
    see(*o, 0, last, all_ids(d), gone);
    o->finish();
    return o;
  }
  /// @param parts one of each message
  static void expect_messages(const Observer& observer, const std::vector<std::string>& parts) {
    const Messages messages = observer.messages();
    ASSERT_EQ(messages.size(), parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_TRUE(contains(messages[i].text, parts[i]));
    }
  }
  void expect_columns(const std::string& table,
                      const std::vector<std::pair<std::string, Numbers>>& columns) {
    for (const auto& [name, values] : columns) EXPECT_EQ(column(table, name), values) << name;
  }
  /// Cells of a table by column.
  Numbers column(const std::string& table, const std::string& name) {
    return columns_of(folder_.file(table))[name];
  }

  ScratchFolder folder_;
};

TEST_F(EvaporationObserverTest, ReportsTheFirstDepartureOfEachReplica) {
  // Replica 0 loses molecule 3 at step 100, and then molecule 0 too; replica 1 loses two at once.
  const auto o = finished(deck(3), 400, [](std::int64_t r, std::int64_t step) -> std::vector<int> {
    if (r == 0 && step >= 200) return {0, 3};
    if (r == 0 && step >= 95) return {3};
    if (r == 1 && step >= 250) return {2, 3};
    return {};
  });
  EXPECT_EQ(o->fields(), static_cast<unsigned>(kParts | kEnergies));
  EXPECT_EQ(o->every(), kEvery);
  // Of two parts of one size the one with the first molecule counts as the cluster.
  expect_columns("evaporation.csv", {{"step", {100, 250}},
                                     {"time_ps", {0.2, 0.5}},
                                     {"replica", {0, 1}},
                                     {"molecules_gone", {1, 2}},
                                     {"molecule", {3, 2}},
                                     {"potential_kcal_per_mol", {-24, -16.1}}});
  const double mass = units::mass_oxygen_Da + 2.0 * units::mass_hydrogen_Da;
  const Numbers kinetic = column("evaporation.csv", "relative_kinetic_kcal_per_mol");
  EXPECT_NEAR(kinetic[0], 0.5 * (3.0 / 4.0 * mass) * 0.01, 1e-15);
  EXPECT_NEAR(kinetic[1], 0.5 * (4.0 / 4.0 * mass) * 0.01, 1e-15);

  expect_columns(
      "survival.csv",
      {{"time_ps", {0, 0.2, 0.5, 0.8}}, {"at_risk", {3, 3, 2, 1}}, {"departures", {0, 1, 1, 0}}});
  const Numbers survival = column("survival.csv", "survival");
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(survival[i], std::max(1, 3 - i) / 3.0, 1e-15);

  // Two departures, half way between two looks: 95 + 245 + 400 steps of 2 fs.
  const double time_ns = (95 + 245 + 400) * 2e-6;
  // Looks at whole clusters after the first one: 9, 24 and 40.
  const double whole = -32.0 - (24 * 0.1 + 40 * 0.2) / 73.0;
  for (const auto& [name, value, rounding] :
       {std::tuple{"time_ns", time_ns, 1e-18},
        {"rate_per_ns", 2.0 / time_ns, 1e-9},
        {"rate_err", std::sqrt(2.0) / time_ns, 1e-9},
        {"of_one_molecule", 1.0, 0.0},
        {"potential_leaving_kcal_per_mol", -20.05, 1e-12},
        {"potential_leaving_err", 7.9 / 2.0, 1e-12},  // half the difference of two
        {"relative_kinetic_kcal_per_mol", 0.5 * (kinetic[0] + kinetic[1]), 1e-15},
        {"relative_kinetic_err", 0.5 * (kinetic[1] - kinetic[0]), 1e-12},
        {"potential_whole_kcal_per_mol", whole, 1e-12}}) {
    EXPECT_NEAR(column("evaporation_rates.csv", name).at(0), value, rounding) << name;
  }
  EXPECT_FALSE(test::CsvReader(folder_.file("evaporation_rates.csv")).has_column("bath_K"));
  EXPECT_NEAR(column("survival.csv", "at_constant_rate").back(), std::exp(-2.0 / time_ns * 800e-6),
              1e-12);
  const auto averages = o->averages();
  ASSERT_EQ(averages.size(), 1u);
  EXPECT_EQ(averages[0].quantity, "evaporation_rate_per_ns");
  EXPECT_NEAR(averages[0].mean, 2.0 / time_ns, 1e-9);
  EXPECT_EQ(averages[0].independent_samples, 2.0);
  EXPECT_FALSE(averages[0].converged);
  EXPECT_FALSE(averages[0].bath_K);
  expect_messages(*o, {"2 of 3 replicas have lost a molecule"});
}

TEST_F(EvaporationObserverTest, StartsWithReplicasThatAreWholeAfterEquilibration) {
  const auto o = observer(deck(4, "", "equilibration_ps = 0.19\n"));  // step 95
  o->begin();
  const Gone gone = [](std::int64_t r, std::int64_t step) -> std::vector<int> {
    if (r == 0 && step >= 50) return {2};   // before
    if (r == 1 && step >= 150) return {2};  // after, and blows up later
    return {};
  };
  see(*o, 0, 200, {0, 1, 2, 3}, gone);
  see(*o, 210, 300, {0, 2, 3}, gone);
  see(*o, 310, 500, {2}, gone);  // 3 was stopped before 310
  o->finish();
  EXPECT_EQ(column("evaporation.csv", "replica"), (Numbers{1}));
  EXPECT_EQ(column("evaporation_rates.csv", "replicas"), (Numbers{3}));
  EXPECT_TRUE(contains(o->messages()[0].text,
                       "1 of 3 replicas have lost a molecule, and 1 more were not whole at the "
                       "first check (0.2 ps)"));
  EXPECT_EQ(column("survival.csv", "at_risk"), (Numbers{3, 3, 1}));
  // From step 100: 45, 400 and 200 steps.
  EXPECT_NEAR(column("evaporation_rates.csv", "time_ns").at(0), (45 + 400 + 200) * 2e-6, 1e-15);
}

TEST_F(EvaporationObserverTest, ReportsMoleculesThatReturn) {
  const auto o = finished(deck(2), 300, [](std::int64_t r, std::int64_t step) -> std::vector<int> {
    if (r == 0 && step >= 100 && step < 150) return {3};
    if (r == 0 && step >= 200) return {2};
    return {};
  });
  EXPECT_EQ(column("evaporation.csv", "step"), (Numbers{100})) << "the first departure only";
  EXPECT_EQ(column("evaporation_rates.csv", "returns"), (Numbers{1}));
  expect_messages(*o, {"", "1 of the 1 replicas were whole again later"});
  EXPECT_TRUE(contains(o->messages()[1].text, "that of reaching link_A"));
}

TEST_F(EvaporationObserverTest, WithoutDeparturesReportsTheRateOfOne) {
  const auto o = finished(deck(2), 100, none_gone);
  EXPECT_TRUE(column("evaporation.csv", "step").empty());
  EXPECT_EQ(column("survival.csv", "survival"), (Numbers{1, 1}));
  EXPECT_EQ(column("evaporation_rates.csv", "rate_per_ns"), (Numbers{0}));
  EXPECT_NEAR(column("evaporation_rates.csv", "rate_err").at(0), 1.0 / (200 * 2e-6), 1e-9);
  EXPECT_FALSE(o->averages().at(0).converged);
  EXPECT_TRUE(o->messages().empty());
  // A single bath has its temperature.
  finished(deck(1, baths("250.0")), 100, none_gone);
  EXPECT_EQ(column("evaporation_rates.csv", "bath_K"), (Numbers{250}));
  EXPECT_FALSE(test::CsvReader(folder_.file("survival.csv")).has_column("bath_K"));
}

/// Departures at rates of an Arrhenius line: rates of the baths, and the line.
TEST_F(EvaporationObserverTest, FindsTheRatesOfBaths) {
  constexpr int kReplicas = 900;
  constexpr double kSigmas = 4.5, kActivation = 6.0;
  constexpr std::int64_t kLast = 5000;
  const double baths_K[] = {300.0, 260.0, 230.0};
  const auto rate_per_ns = [&](double bath_K) {
    return 100.0 *
           std::exp(-kActivation / units::boltzmann_kcal_per_mol_K * (1.0 / bath_K - 1.0 / 300.0));
  };
  std::mt19937_64 random(7);
  std::vector<double> leaves;
  for (std::size_t r = 0; r < kReplicas; ++r) {
    const double per_step = rate_per_ns(baths_K[r % 3]) * kStep_fs * 1e-6;
    leaves.push_back(std::exponential_distribution<>(per_step)(random));
  }
  const Gone gone = [&](std::int64_t r, std::int64_t step) {
    return static_cast<double>(step) > leaves[static_cast<std::size_t>(r)] ? std::vector{1}
                                                                           : std::vector<int>{};
  };
  const auto o = finished(deck(kReplicas, baths("300.0, 260.0, 230.0")), kLast, gone);
  const auto averages = o->averages();
  ASSERT_EQ(averages.size(), 4u);
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(averages[b].bath_K.value(), baths_K[2 - b]) << "rising";
    // What half an interval of ten steps leaves is (k dt)^2 / 12.
    EXPECT_NEAR(averages[b].mean, rate_per_ns(baths_K[2 - b]), kSigmas * averages[b].error);
    EXPECT_TRUE(averages[b].converged);
  }
  EXPECT_EQ(averages[3].quantity, "activation_energy_kcal_per_mol");
  EXPECT_NEAR(averages[3].mean, kActivation, kSigmas * averages[3].error);
  EXPECT_LT(averages[3].error, 1.0);
  EXPECT_FALSE(averages[3].bath_K);
  ASSERT_EQ(o->messages().size(), 1u) << "nothing but how many left";
}

TEST_F(EvaporationObserverTest, DetectsAChangingRate) {
  for (const std::int64_t last_to_leave : {1000, 300}) {
    // 50 replicas leave, evenly up to that step.
    const auto o = finished(deck(200), 1000, [=](std::int64_t r, std::int64_t step) {
      return r < 50 && step > r * last_to_leave / 50 ? std::vector{0} : std::vector<int>{};
    });
    std::vector<std::string> parts{""};
    if (last_to_leave == 300) parts.push_back("the rate differs significantly");
    expect_messages(*o, parts);
  }
}

/// Each bath by itself has too few departures to tell.
TEST_F(EvaporationObserverTest, DetectsChangingRatesOfAllBaths) {
  // 12 of the 40 replicas of each leave, 11 of them in the first third.
  const auto o = finished(
      deck(160, baths("200.0, 220.0, 240.0, 260.0")), 1200, [](std::int64_t r, std::int64_t step) {
        const std::int64_t place = r / 4;
        const bool is_gone = (place < 11 && step > place * 35) || (place == 11 && step > 1000);
        return is_gone ? std::vector{0} : std::vector<int>{};
      });
  expect_messages(*o, {"", "the rate differs significantly"});
}

TEST_F(EvaporationObserverTest, WithoutAWholeReplicaThereAreNoRows) {
  const auto o = finished(deck(1), 100, [](std::int64_t, std::int64_t) { return std::vector{1}; });
  EXPECT_TRUE(o->averages().empty());
  expect_messages(*o, {"no replica was whole at step 0. Check that link_A = 8 A", ""});
}

TEST_F(EvaporationObserverTest, RefusesAMemoryThatDoesNotFit) {
  const auto o = observer(deck(1));
  o->begin();
  std::ostringstream out;
  o->save(out);
  std::istringstream cut(out.str().substr(0, out.str().size() - 9));
  EXPECT_THROW(observer(deck(1))->load(cut), LayoutError);
}

// --- the warning of a run ---

/// Two replicas of three molecules, one of which has lost its third.
Frame frame_with_broken(std::int64_t replica) {
  Frame frame;
  frame.molecules = 3;
  frame.step = 1000;
  for (std::int64_t id = 0; id < 2; ++id) {
    frame.replica_ids.push_back(id);
    for (int i = 0; i < 3; ++i) {
      const double x_A = i == 2 && id == replica ? 100.0 : 3.0 * i;
      for (const std::array atom : {std::array{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}) {
        frame.positions_A.insert(frame.positions_A.end(), {x_A + atom[0], atom[1], atom[2]});
      }
    }
  }
  PositionMeasures(tip3p(), {}).fill(kParts, frame);
  return frame;
}

TEST(Evaporation, AnExchangedStateIsReportedOnce) {
  std::array<std::int64_t, 2> walkers{0, 1};
  EvaporationWatch by_replica, by_state;
  by_state.set_walkers([&](std::int64_t r) { return walkers[static_cast<std::size_t>(r)]; });
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(0));
  walkers = {1, 0};
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(1));
  EXPECT_EQ(by_replica.events().size(), 2u);
  ASSERT_EQ(by_state.events().size(), 1u);
  EXPECT_EQ(by_state.events()[0].replica, 0);
  EXPECT_EQ(by_state.events()[0].molecule, 2);
}

/// A frame in which these replicas have lost their third molecule.
Frame frame_with_broken(const std::vector<std::int64_t>& replicas, std::int64_t step) {
  Frame frame;
  frame.step = step;
  frame.replica_ids = replicas;
  frame.parts.assign(replicas.size(), ClusterParts{1, 2, 0.0});
  return frame;
}

TEST(Evaporation, OneTextNamesAllReplicas) {
  EvaporationWatch watch;
  EXPECT_FALSE(watch.warning());
  watch.observe(frame_with_broken({3}, 1000));
  const std::string first = watch.warning()->text;
  EXPECT_EQ(first, watch.describe(watch.events()[0]));
  EXPECT_TRUE(first.starts_with("replica 3: molecule 2 evaporated (detected at step 1000, "));
  watch.observe(frame_with_broken({0, 3}, 2000));
  EXPECT_EQ(watch.warning()->text, first + ". Also in replica 0 (step 2000)");
  watch.observe(frame_with_broken({7}, 4000));
  EXPECT_EQ(watch.warning(),
            Message::warning(first + ". Also in replicas 0 (step 2000), 7 (step 4000)"));
  // It does not grow for ever.
  EvaporationWatch large;
  std::vector<std::int64_t> replicas(25);
  std::iota(replicas.begin(), replicas.end(), 0);
  large.observe(frame_with_broken(replicas, 1000));
  const std::string text = large.warning()->text;
  EXPECT_TRUE(contains(text, "20 (step 1000) and 4 more"));
  EXPECT_FALSE(contains(text, "21 (step")) << text;
}

}  // namespace
}  // namespace tarn
