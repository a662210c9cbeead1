#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "engine_fixtures.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/minimise.hpp"

/// @file
/// Conservation of energy with MB-pol over 10 ps.

namespace tarn {
namespace {

/// The slopes of 16 replicas have a mean within its error of zero: by 6.7 standard errors, which
/// Student's distribution of 15 degrees of freedom exceeds as rarely as a normal one 4.5. A drift
/// of 1 % of kT per ps would be found.
TEST(ManyBodyConservation, EnergyDoesNotDrift) {
  constexpr int kReplicas = 16, kSamples = 100;
  constexpr double kLength_ps = 10.0, kT_kcal_per_mol = 0.3;
  for (const double step_fs : {0.25, 0.5}) {
    System s = test::make_system({"flexible_verlet", test::Bath::none}, test::tip4p(), 3);
    s.model = *find_water_model("mbpol");
    s.integrator.timestep_akma = units::akma_from_fs(step_fs);
    std::vector<std::int64_t> ids(kReplicas);
    std::iota(ids.begin(), ids.end(), 0);
    State start = test::start_state(s, ids);
    std::vector<double> x(start.positions_A.begin(), start.positions_A.begin() + 27);
    ForceField force_field(s.model, 3);
    quench(force_field, x);
    for (std::size_t k = 0; k < start.positions_A.size(); ++k) {
      start.positions_A[k] = x[k % 27];
      start.velocities_A_per_akma[k] *= std::sqrt(0.5);  // of 300 K
    }
    const auto engine = make_cpu_engine(s, start, {}, 0);
    std::vector<double> slopes(kReplicas);
    double squares = 0.0;
    Frame f;
    for (int sample = 0; sample < kSamples; ++sample) {
      engine->advance(std::llround(1e3 * kLength_ps / kSamples / step_fs));
      engine->snapshot(kEnergies, f);
      ASSERT_EQ(f.live(), std::size_t{kReplicas});
      const double t_ps = kLength_ps * (sample + 0.5 - 0.5 * kSamples) / kSamples;
      squares += t_ps * t_ps;
      for (std::size_t r = 0; r < kReplicas; ++r) {
        slopes[r] += t_ps * f.energies[r].total_kcal_per_mol;
      }
    }
    double mean = 0.0, square = 0.0;
    for (double& slope : slopes) {
      slope /= squares;
      mean += slope / kReplicas;
    }
    for (const double slope : slopes) square += (slope - mean) * (slope - mean);
    const double error = std::sqrt(square / (kReplicas * (kReplicas - 1)));
    EXPECT_LT(std::abs(mean), 6.7 * error) << step_fs;
    EXPECT_LT(6.7 * error, 0.01 * kT_kcal_per_mol) << step_fs;
  }
}

}  // namespace
}  // namespace tarn
