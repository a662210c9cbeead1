#include "compare/energy_conservation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "rounding.hpp"

namespace tarn {
namespace {

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
  c.add(frame({0.0, 0.0}));
  c.add(frame({1.0, 1e9}));
  c.add(frame({0.0}));
  const EnergyConservation::Result r = c.result();
  EXPECT_DOUBLE_EQ(r.max, 1.0);
  EXPECT_DOUBLE_EQ(r.rms.mean, std::sqrt(1.0 / 3.0));
  EXPECT_EQ(r.rms.error, 0.0) << "of one replica it is not known";
}

TEST(EnergyConservation, NothingIsKnownWithoutSamples) {
  EnergyConservation c;
  EXPECT_TRUE(std::isnan(c.result().rms.mean));
  EXPECT_TRUE(std::isnan(c.result().max));
  c.add(frame({1.0}));
  EXPECT_TRUE(std::isnan(c.result().rms.mean)) << "there is no change yet";
  c.add(frame({1.0}));
  EXPECT_EQ(c.result().rms.mean, 0.0);
  EXPECT_TRUE(std::isnan(c.result().drift.mean)) << "a line needs three points";
}

TEST(EnergyConservation, OrdersOmitLostReplicas) {
  std::vector<EnergyPoint> points;
  for (const double step_fs : {0.5, 1.0, 2.0}) {
    points.push_back({0, step_fs, {3e-4 * step_fs * step_fs, 1e-5}, true});
    points.push_back({1, step_fs, {1e-5 * std::pow(step_fs, 3), 1e-6}, true});
  }
  points.push_back({0, 4.0, {1e9, 0.0}, false});
  const std::vector<SchemeOrder> orders = energy_orders(points, {"a", "b"});
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].quantity, "energy");
  // Exact powers, up to the rounding of logarithms.
  EXPECT_NEAR(orders[0].fit.order, 2.0, 1e-12);
  EXPECT_EQ(orders[0].fit.points, 3u);
  EXPECT_NEAR(orders[1].fit.order, 3.0, test::few_roundings(10.0));
}

}  // namespace
}  // namespace tarn
