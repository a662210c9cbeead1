#include "cluster_averages.hpp"
#include "tarn/analysis/errors.hpp"

/// @file
/// The full Hessian of the penalty (TO 2.6 as printed) heats at the paper's own parameters; the
/// Gauss-Newton form does not.

namespace tarn {
namespace {

using namespace test;

/// Temperature of translation over that of the bath, of replicas that ran 6000 units, some four
/// times as long as friction and heat need to come to a balance.
analysis::MeanError translation(Hessian hessian, double beta) {
  System system = paper_system("zss_structured", 20.0, 3);
  system.integrator.hessian = hessian;
  system.integrator.beta = beta;
  constexpr int kReplicas = 32;
  State start =
      replicas_at(system.model, minimum_of_seven(system.integrator), kReplicas, 10.06, 3, false);
  warm_up_vibrations(system.model, start);
  const auto engine = make_cpu_engine(system, start, {});
  engine->advance(120'000);
  std::vector<double> of_replica(kReplicas);
  Frame f;
  constexpr int kSamples = 400;
  for (int k = 0; k < kSamples; ++k) {
    engine->advance(200);
    engine->snapshot(kEnergies, f);
    EXPECT_EQ(f.energies.size(), of_replica.size());
    if (f.energies.size() != of_replica.size()) return {};
    for (std::size_t r = 0; r < of_replica.size(); ++r) {
      of_replica[r] += f.energies[r].temperature_translation_K / 10.06 / kSamples;
    }
  }
  const analysis::MeanError ratio = analysis::mean_and_error(of_replica);
  ::testing::Test::RecordProperty(
      (hessian == Hessian::full ? "full_" : "gauss_newton_") + std::to_string(beta),
      std::to_string(ratio.mean) + " +- " + std::to_string(ratio.error));
  return ratio;
}

TEST(Heating, IsThatOfTheFullHessian) {
  const auto stiff = translation(Hessian::full, 0.4);
  EXPECT_NEAR(stiff.mean, 1.45, 0.05 + 4.5 * stiff.error);
  EXPECT_GT(stiff.mean, 1.0 + 4.5 * stiff.error);
  const auto less = translation(Hessian::full, 0.3);
  EXPECT_NEAR(less.mean, 1.225, 0.075 + 4.5 * less.error);
  const auto none = translation(Hessian::gauss_newton, 0.4);
  EXPECT_NEAR(none.mean, 1.0, 4.5 * none.error);
  EXPECT_LT(none.error, 0.04);  // so that the heat above is eleven of it
}

}  // namespace
}  // namespace tarn
