#include "droplet.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr double kDuration = 420.0, kEquilibration = 20.0;

/// The numbers that docs/verdict.md rests on.
TEST(DropletLong, ReproducesTheVerdictAverages) {
  const auto run = [](const std::string& scheme, const std::string& step,
                      const std::string& thermostat) {
    return droplet(scheme, {"integrator.timestep_fs=" + step, "thermostat.kind=" + thermostat},
                   kDuration, kEquilibration)
        .potential_kcal_per_mol;
  };
  for (const std::string step : {"1", "2", "4", "8"}) {
    const analysis::MeanError v0 = run("settle", step, "baoab");
    expect_mean(v0, -243.4, 0.3, "settle, baoab, " + step + " fs");
    EXPECT_LT(v0.error, 0.4);  // what others are off by is 2 and more
  }
  expect_mean(run("settle", "4", "gla"), -241.5, 0.3, "settle, gla, 4 fs");
  expect_mean(run("settle", "8", "gla"), -232.6, 1.0, "settle, gla, 8 fs");
  expect_mean(run("zss-stiff", "1", "baoab"), -245.4, 1.0, "omega = 100, 1 fs");
  expect_mean(run("zss-stiff", "2", "baoab"), -246.1, 1.0, "omega = 100, 2 fs");
}

}  // namespace
}  // namespace tarn
