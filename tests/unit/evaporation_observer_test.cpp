#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "observe/observable.hpp"
#include "observe/position_measures.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/observers.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

using test::contains;
using test::contents_of;
using test::read_text;
using test::ScratchFolder;

constexpr std::int64_t kEvery = 10;
constexpr double kStep_fs = 2.0;

/// Molecules of replica r that are gone at a step.
using Gone = std::function<std::vector<int>(std::int64_t r, std::int64_t step)>;

/// Clusters of four molecules in a row, 3 A apart.
class EvaporationObserverTest : public ::testing::Test {
 protected:
  static Deck deck(int replicas, const std::string& thermostat, const std::string& more = "") {
    return parse_deck("[system]\nmolecules = 4\nreplicas = " + std::to_string(replicas) +
                          "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 2.0\n" + thermostat +
                          "[run]\nsteps = 100000\n" + more + "[observe.evaporation]\nevery = 10\n",
                      "test.toml");
  }
  static std::string baths(const std::string& temperatures_K) {
    return "[thermostat]\nkind = \"gla\"\nfriction_per_ps = 1.0\ntemperatures_K = [" +
           temperatures_K + "]\n";
  }
  std::unique_ptr<Observer> observer(const Deck& d) {
    const RunInfo info{folder_.path(),       4,        d.system.replicas,
                       "tarn; test, seed 1", kStep_fs, first_averaged_step(d)};
    return std::move(make_observers(d, info).front());
  }
  /// Who is gone is 20 A away, and moves at 0.1 A/akma along x.
  static Frame frame(std::int64_t step, const std::vector<std::int64_t>& ids, const Gone& gone) {
    Frame f;
    f.step = step;
    f.molecules = 4;
    f.replica_ids = ids;
    for (const std::int64_t id : ids) {
      const std::vector<int> away = gone(id, step);
      for (int m = 0; m < 4; ++m) {
        const bool is_gone = std::find(away.begin(), away.end(), m) != away.end();
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
    PositionMeasures(test::tip3p(), {}).fill(kParts, f);
    return f;
  }
  static void see(Observer& observer, std::int64_t first, std::int64_t last,
                  const std::vector<std::int64_t>& ids, const Gone& gone) {
    for (std::int64_t step = first; step <= last; step += kEvery) {
      observer.observe(frame(step, ids, gone));
    }
  }
  /// Cells of a table by column.
  std::vector<double> column(const std::string& table, std::string_view name) {
    std::vector<double> values;
    io::CsvReader csv(folder_.file(table));
    const std::size_t at = csv.column(name);
    for (std::vector<std::string_view> cells; csv.next(cells);) {
      values.push_back(cells[at] == "nan" ? std::nan("") : csv.number(cells[at]));
    }
    return values;
  }

  ScratchFolder folder_;
};

using Numbers = std::vector<double>;

TEST_F(EvaporationObserverTest, ReportsTheFirstDepartureOfEachReplica) {
  const auto o = observer(deck(3, ""));
  EXPECT_EQ(o->fields(), static_cast<unsigned>(kParts | kEnergies));
  EXPECT_EQ(o->every(), kEvery);
  o->begin();
  // Replica 0 loses molecule 3 at step 100, and then molecule 0 too; replica 1 loses two at once.
  see(*o, 0, 400, {0, 1, 2}, [](std::int64_t r, std::int64_t step) -> std::vector<int> {
    if (r == 0 && step >= 200) return {0, 3};
    if (r == 0 && step >= 95) return {3};
    if (r == 1 && step >= 250) return {2, 3};
    return {};
  });
  o->finish();
  EXPECT_EQ(column("evaporation.csv", "step"), (Numbers{100, 250}));
  EXPECT_EQ(column("evaporation.csv", "time_ps"), (Numbers{0.2, 0.5}));
  EXPECT_EQ(column("evaporation.csv", "replica"), (Numbers{0, 1}));
  EXPECT_EQ(column("evaporation.csv", "molecules_gone"), (Numbers{1, 2}));
  // Of two parts of one size the one with the first molecule counts as the cluster.
  EXPECT_EQ(column("evaporation.csv", "molecule"), (Numbers{3, 2}));
  const double mass = units::mass_oxygen_Da + 2.0 * units::mass_hydrogen_Da;
  const Numbers kinetic = column("evaporation.csv", "relative_kinetic_kcal_per_mol");
  EXPECT_NEAR(kinetic[0], 0.5 * (3.0 / 4.0 * mass) * 0.01, 1e-15);
  EXPECT_NEAR(kinetic[1], 0.5 * (4.0 / 4.0 * mass) * 0.01, 1e-15);
  EXPECT_EQ(column("evaporation.csv", "potential_kcal_per_mol"), (Numbers{-24, -16.1}));

  EXPECT_EQ(column("survival.csv", "time_ps"), (Numbers{0, 0.2, 0.5, 0.8}));
  EXPECT_EQ(column("survival.csv", "at_risk"), (Numbers{3, 3, 2, 1}));
  EXPECT_EQ(column("survival.csv", "departures"), (Numbers{0, 1, 1, 0}));
  const Numbers survival = column("survival.csv", "survival");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(survival[i], (Numbers{1.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0})[i], 1e-15);
  }

  // Two departures, half way between two looks: 95 + 245 + 400 steps of 2 fs.
  const double time_ns = (95 + 245 + 400) * 2e-6;
  EXPECT_NEAR(column("evaporation_rates.csv", "time_ns").at(0), time_ns, 1e-18);
  EXPECT_NEAR(column("evaporation_rates.csv", "rate_per_ns").at(0), 2.0 / time_ns, 1e-9);
  EXPECT_NEAR(column("evaporation_rates.csv", "rate_err").at(0), std::sqrt(2.0) / time_ns, 1e-9);
  EXPECT_EQ(column("evaporation_rates.csv", "of_one_molecule"), (Numbers{1}));
  const auto mean_and_error = [&](const std::string& name) {
    return std::pair{column("evaporation_rates.csv", name + "_kcal_per_mol").at(0),
                     column("evaporation_rates.csv", name + "_err").at(0)};
  };
  const auto [leaving, leaving_err] = mean_and_error("potential_leaving");
  EXPECT_NEAR(leaving, -20.05, 1e-12);
  EXPECT_NEAR(leaving_err, 7.9 / 2.0, 1e-12);  // half the difference of two
  const auto [release, release_err] = mean_and_error("relative_kinetic");
  EXPECT_NEAR(release, 0.5 * (kinetic[0] + kinetic[1]), 1e-15);
  EXPECT_NEAR(release_err, 0.5 * (kinetic[1] - kinetic[0]), 1e-12);
  // Looks at whole clusters after the first one: 9, 24 and 40.
  EXPECT_NEAR(column("evaporation_rates.csv", "potential_whole_kcal_per_mol").at(0),
              -32.0 - (24 * 0.1 + 40 * 0.2) / 73.0, 1e-12);
  EXPECT_FALSE(io::CsvReader(folder_.file("evaporation_rates.csv")).has_column("bath_K"));
  EXPECT_NEAR(column("survival.csv", "at_constant_rate").back(), std::exp(-2.0 / time_ns * 800e-6),
              1e-12);
  const auto averages = o->averages();
  ASSERT_EQ(averages.size(), 1u);
  EXPECT_EQ(averages[0].quantity, "evaporation_rate_per_ns");
  EXPECT_NEAR(averages[0].mean, 2.0 / time_ns, 1e-9);
  EXPECT_EQ(averages[0].independent_samples, 2.0);
  EXPECT_FALSE(averages[0].converged);
  EXPECT_FALSE(averages[0].bath_K);
  ASSERT_EQ(o->messages().size(), 1u);
  EXPECT_TRUE(contains(o->messages()[0].text, "2 of 3 replicas have lost a molecule"));
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
  const auto o = observer(deck(2, ""));
  o->begin();
  see(*o, 0, 300, {0, 1}, [](std::int64_t r, std::int64_t step) -> std::vector<int> {
    if (r == 0 && step >= 100 && step < 150) return {3};
    if (r == 0 && step >= 200) return {2};
    return {};
  });
  o->finish();
  EXPECT_EQ(column("evaporation.csv", "step"), (Numbers{100})) << "the first departure only";
  EXPECT_EQ(column("evaporation_rates.csv", "returns"), (Numbers{1}));
  ASSERT_EQ(o->messages().size(), 2u);
  EXPECT_TRUE(contains(o->messages()[1].text, "1 of the 1 replicas were whole again later"));
  EXPECT_TRUE(contains(o->messages()[1].text, "that of reaching link_A"));
}

TEST_F(EvaporationObserverTest, WithoutDeparturesReportsTheRateOfOne) {
  const auto o = observer(deck(2, ""));
  o->begin();
  see(*o, 0, 100, {0, 1}, [](std::int64_t, std::int64_t) { return std::vector<int>{}; });
  o->finish();
  EXPECT_TRUE(column("evaporation.csv", "step").empty());
  EXPECT_EQ(column("survival.csv", "survival"), (Numbers{1, 1}));
  EXPECT_EQ(column("evaporation_rates.csv", "rate_per_ns"), (Numbers{0}));
  EXPECT_NEAR(column("evaporation_rates.csv", "rate_err").at(0), 1.0 / (200 * 2e-6), 1e-9);
  EXPECT_FALSE(o->averages().at(0).converged);
  EXPECT_TRUE(o->messages().empty());
}

/// Departures at rates of an Arrhenius line: rates, line and pictures of the baths, also after a
/// restart.
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
  std::vector<std::int64_t> ids;
  std::vector<double> leaves;
  for (std::int64_t r = 0; r < kReplicas; ++r) {
    ids.push_back(r);
    const double per_step = rate_per_ns(baths_K[r % 3]) * kStep_fs * 1e-6;
    leaves.push_back(std::exponential_distribution<>(per_step)(random));
  }
  const Gone gone = [&](std::int64_t r, std::int64_t step) {
    return static_cast<double>(step) > leaves[static_cast<std::size_t>(r)] ? std::vector{1}
                                                                           : std::vector<int>{};
  };
  const Deck d = deck(kReplicas, baths("300.0, 260.0, 230.0"));
  {
    const auto o = observer(d);
    o->begin();
    see(*o, 0, kLast, ids, gone);
    o->finish();
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
  const auto straight = contents_of(folder_.path());
  ASSERT_EQ(straight.size(), 3u);
  for (const std::int64_t stop : {0, 10, 2500, 5000}) {
    std::string saved;
    {
      const auto o = observer(d);
      o->begin();
      see(*o, 0, stop, ids, gone);
      std::ostringstream out;
      o->save(out);
      saved = out.str();
      see(*o, stop + kEvery, stop + 1000, ids, gone);  // must not matter
    }
    const auto o = observer(d);
    std::istringstream in(saved);
    o->load(in);
    see(*o, stop + kEvery, kLast, ids, gone);
    o->finish();
    EXPECT_EQ(contents_of(folder_.path()), straight) << "stopped at " << stop;
  }
}

TEST_F(EvaporationObserverTest, OfOneBathHasItsTemperature) {
  const auto o = observer(deck(1, baths("250.0")));
  o->begin();
  see(*o, 0, 100, {0}, [](std::int64_t, std::int64_t) { return std::vector<int>{}; });
  o->finish();
  EXPECT_EQ(column("evaporation_rates.csv", "bath_K"), (Numbers{250}));
  EXPECT_FALSE(io::CsvReader(folder_.file("survival.csv")).has_column("bath_K"));
}

TEST_F(EvaporationObserverTest, DetectsAChangingRate) {
  const auto notes_of = [&](std::int64_t last_to_leave) {
    const auto o = observer(deck(200, ""));
    std::vector<std::int64_t> ids;
    for (std::int64_t r = 0; r < 200; ++r) ids.push_back(r);
    o->begin();
    // 50 replicas leave, evenly up to that step.
    see(*o, 0, 1000, ids, [=](std::int64_t r, std::int64_t step) {
      return r < 50 && step > r * last_to_leave / 50 ? std::vector{0} : std::vector<int>{};
    });
    return o->messages();
  };
  EXPECT_EQ(notes_of(1000).size(), 1u);
  ASSERT_EQ(notes_of(300).size(), 2u);
  EXPECT_TRUE(contains(notes_of(300)[1].text, "the rate differs significantly"));
}

/// Each bath by itself has too few departures to tell.
TEST_F(EvaporationObserverTest, DetectsChangingRatesOfAllBaths) {
  const auto o = observer(deck(160, baths("200.0, 220.0, 240.0, 260.0")));
  std::vector<std::int64_t> ids;
  for (std::int64_t r = 0; r < 160; ++r) ids.push_back(r);
  o->begin();
  // 12 of the 40 replicas of each leave, 11 of them in the first third.
  see(*o, 0, 1200, ids, [](std::int64_t r, std::int64_t step) {
    const std::int64_t place = r / 4;
    return (place < 11 && step > place * 35) || (place == 11 && step > 1000) ? std::vector{0}
                                                                             : std::vector<int>{};
  });
  const auto notes = o->messages();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_TRUE(contains(notes[1].text, "the rate differs significantly"));
}

TEST_F(EvaporationObserverTest, WithoutAWholeReplicaThereAreNoRows) {
  const auto o = observer(deck(1, ""));
  o->begin();
  see(*o, 0, 100, {0}, [](std::int64_t, std::int64_t) { return std::vector{1}; });
  o->finish();
  EXPECT_TRUE(o->averages().empty());
  ASSERT_EQ(o->messages().size(), 2u);
  EXPECT_TRUE(
      contains(o->messages()[0].text, "no replica was whole at step 0. Check that link_A = 8 A"));
}

TEST_F(EvaporationObserverTest, RefusesAMemoryThatDoesNotFit) {
  const auto o = observer(deck(1, ""));
  o->begin();
  std::ostringstream out;
  o->save(out);
  std::istringstream cut(out.str().substr(0, out.str().size() - 9));
  EXPECT_THROW(observer(deck(1, ""))->load(cut), LayoutError);
}

}  // namespace
}  // namespace tarn
