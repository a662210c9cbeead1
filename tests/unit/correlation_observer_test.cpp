

#include "csv_reader.hpp"
#include "observer_of.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;

/// The angle by which the only molecule of replica r has turned in its plane at a step.
using Angle = std::function<double(std::int64_t r, std::int64_t step)>;

/// A sample each two steps of 2 fs; windows of 64 samples with lags up to 50 of them, 0.2 ps.
class CorrelationObserverTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kFirstWindow = 2 * (60 + 50);  ///< its last step

  Deck deck(int replicas, const std::string& more = "") {
    return parse_deck("[system]\nmolecules = 1\nreplicas = " + std::to_string(replicas) +
                          "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 2.0\n"
                          "[thermostat]\nkind = \"gla\"\ntemperature_K = 100.0\n"
                          "friction_per_ps = 1.0\n[run]\nsteps = 10000\n"
                          "[observe.correlation]\nevery = 2\nlength_ps = 0.2\n" +
                          more,
                      "test.toml");
  }
  std::unique_ptr<Observer> observer(const Deck& d) { return observer_of(d, folder_.path()); }
  static void see(Observer& observer, std::int64_t first, std::int64_t last,
                  const std::vector<std::int64_t>& ids, const Angle& angle) {
    for (std::int64_t step = first; step <= last; step += 2) {
      Frame f;
      f.step = step;
      f.molecules = 1;
      f.replica_ids = ids;
      for (const std::int64_t id : ids) {
        f.positions_A.insert(f.positions_A.end(), 3, 0.0);
        for (const double side : {-0.9, 0.9}) {
          const double at = angle(id, step) + side;
          f.positions_A.insert(f.positions_A.end(), {std::cos(at), std::sin(at), 0.0});
        }
      }
      observer.observe(f);
    }
  }
  /// The columns of a row: time and then value and error by turns.
  std::vector<std::vector<double>> rows() {
    std::vector<std::vector<double>> all;
    test::CsvReader csv(folder_.file("correlation.csv"));
    for (std::vector<std::string_view> cells; csv.next(cells);) {
      std::vector<double>& row = all.emplace_back();
      for (const std::string_view cell : cells) row.push_back(csv.number(cell));
    }
    return all;
  }

  ScratchFolder folder_;
};

TEST_F(CorrelationObserverTest, HasRowsUpToTheLengthAndTheirIntegrals) {
  const auto correlation = observer(deck(1));
  EXPECT_EQ(correlation->fields(), static_cast<unsigned>(kPositions));
  correlation->begin();
  const double turn = 0.02;  // in a sample
  const Angle evenly = [&](std::int64_t, std::int64_t step) {
    return 0.5 * turn * static_cast<double>(step);
  };
  // Without a whole window there are no rows.
  see(*correlation, 0, kFirstWindow - 2, {0}, evenly);
  EXPECT_TRUE(correlation->averages().empty());
  correlation->finish();
  EXPECT_TRUE(rows().empty());
  EXPECT_TRUE(correlation->messages().empty());
  see(*correlation, kFirstWindow, kFirstWindow, {0}, evenly);
  correlation->finish();
  const auto all = rows();
  ASSERT_EQ(all.size(), 51u);
  double integral = 0.0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_EQ(all[k].size(), 19u);
    EXPECT_NEAR(all[k][0], 0.004 * static_cast<double>(k), 1e-15);
    const double cosine = std::cos(turn * static_cast<double>(k));
    for (const std::size_t p1 : {1u, 5u, 9u}) {  // O-H, H-H, dipole
      EXPECT_NEAR(all[k][p1], cosine, 1e-14);
      EXPECT_NEAR(all[k][p1 + 2], 1.5 * cosine * cosine - 0.5, 1e-14);
    }
    // A molecule alone has no bonds.
    EXPECT_TRUE(std::isnan(all[k][13]));
    EXPECT_TRUE(std::isnan(all[k][15]));
    integral += (k == 0 || k == 50 ? 0.5 : 1.0) * 0.004 * cosine;
  }
  const std::vector<AveragedQuantity> averages = correlation->averages();
  ASSERT_EQ(averages.size(), 6u);
  EXPECT_EQ(averages[0].quantity, "oh_p1_time_ps");
  EXPECT_NEAR(averages[0].mean, integral, 1e-14);
  EXPECT_EQ(averages[0].samples, 1);
  EXPECT_FALSE(averages[0].converged);
  // cos 1 and P2 of it are left.
  const Messages notes = correlation->messages();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(contains(notes[0].text, "not decayed at 0.2 ps: oh_p1 0.54, hh_p1 0.54"));
  EXPECT_FALSE(contains(notes[0].text, "p2")) << "P2 is -0.06";
}

/// Replicas that turn by 1, 2 and 3 units a sample, of which the third is stopped in its second
/// window; the fourth is not chosen.
TEST_F(CorrelationObserverTest, AveragesOverTheChosenReplicasAfterEquilibration) {
  Deck d = deck(4, "replicas = 3\n");
  d.run.equilibration_ps = 0.5;  // 250 steps
  const auto correlation = observer(d);
  correlation->begin();
  constexpr double kUnit = 0.01;
  const Angle turning = [&](std::int64_t r, std::int64_t step) {
    if (step < 250) return 0.3 * static_cast<double>(step * step);
    return 0.5 * kUnit * static_cast<double>((r + 1) * step);
  };
  // The mean of the dipoles, in which each replica has this weight.
  const auto expect_mean = [&](double first, double second, double third, bool has_errors) {
    const auto all = rows();
    for (std::size_t lag = 0; lag < all.size(); ++lag) {
      const double angle = kUnit * static_cast<double>(lag);
      const double sum =
          first * std::cos(angle) + second * std::cos(2 * angle) + third * std::cos(3 * angle);
      EXPECT_NEAR(all[lag][9], sum / (first + second + third), 1e-14);
      if (has_errors && lag > 0) {
        EXPECT_GT(all[lag][10], 0.0);
      }
    }
  };
  EXPECT_EQ(correlation->every(), 250);
  see(*correlation, 0, 0, {0, 1, 2, 3}, turning);
  EXPECT_EQ(correlation->every(), 250);
  see(*correlation, 250, 250 + kFirstWindow, {0, 1, 2, 3}, turning);
  EXPECT_EQ(correlation->every(), 2);
  correlation->finish();
  expect_mean(1.0, 1.0, 1.0, false);
  // Windows begin 64 samples after each other.
  see(*correlation, 252 + kFirstWindow, 250 + kFirstWindow + 128, {0, 1, 3}, turning);
  correlation->finish();
  // Two and three values of each replica, which differ: the spread of the replicas is the error.
  expect_mean(2.0, 2.0, 1.0, true);
  EXPECT_EQ(correlation->averages().front().samples, 5);
}

}  // namespace
}  // namespace tarn
