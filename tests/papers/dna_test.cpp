// The DNA model of TO 4.4 over twenty seeds: when the strand opens, and the energy it keeps.
#include "papers/methods.hpp"
#include "papers/systems.hpp"
#include "testing.hpp"

namespace tarn::papers {
namespace {

// The other well is at 5.49; its edge, where the mean angle counts as arrived.
constexpr double kArrived = 5.0;
constexpr int kSeeds = 20;

/// Standard error of the mean.
double error_of(const Vector& sample) {
  const auto n = static_cast<double>(sample.size());
  return std::sqrt((sample.array() - sample.mean()).square().sum() / (n * (n - 1.0)));
}

struct Outcome {
  Vector crossing = Vector::Zero(kSeeds), energies = Vector::Zero(kSeeds);
};

/// Every seed to t = 1000.
template <class MakeMethod>
Outcome run(MakeMethod make, double h) {
  Outcome outcome;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Experiment p = make_dna({}, standard_normals(static_cast<std::uint64_t>(seed), 200));
    auto method = make(p.whole(), h);
    State s = advanced(method, p.position, p.velocity, 0);
    double crossing = -1.0, sum = 0.0;
    const int steps = static_cast<int>(std::lround(1000.0 / h));
    for (int k = 1; k <= steps; ++k) {
      method.step(s);
      sum += energy(p.whole(), s);
      if (crossing < 0.0 && s.x.mean() > kArrived) crossing = k * h;
    }
    EXPECT_GT(crossing, 0.0) << "seed " << seed << " stays in its well";
    outcome.crossing[seed - 1] = crossing;
    outcome.energies[seed - 1] = sum / steps;
  }
  return outcome;
}

// Times and energies of an independent program, with the tolerance that it states, and 4.5 sigma of
// the seeds here for the energies.
TEST(MechanicsDna, StrandsOpenAtTheKnownTimes) {
  const Outcome verlet = run([](const MechanicalSystem& s, double h) { return Verlet(s, h); }, 0.2);
  const Outcome zs = run([](const MechanicalSystem& s, double h) { return Zs(s, h, 0.3); }, 2.0);
  EXPECT_NEAR(verlet.crossing.mean(), 162.0, 15.0);
  EXPECT_NEAR(zs.crossing.mean(), 188.0, 20.0);
  EXPECT_NEAR(verlet.energies.mean(), 2.15, 4.5 * error_of(verlet.energies));
  EXPECT_NEAR(zs.energies.mean(), 1.4, 4.5 * error_of(zs.energies));
  // Small enough to tell one from the other: Z&S is later, and has less energy.
  EXPECT_LT(error_of(verlet.energies), 0.1);
  EXPECT_LT(error_of(zs.energies), 0.1);
  const auto apart = [](const Vector& a, const Vector& b) {
    return (a.mean() - b.mean()) / std::hypot(error_of(a), error_of(b));
  };
  EXPECT_GT(apart(zs.crossing, verlet.crossing), 4.5);
  EXPECT_GT(apart(verlet.energies, zs.energies), 4.5);
}

// Coarse steps last to t = 2000, but are not for long runs: every strand is lost some time after
// t = 3500.
TEST(MechanicsDna, CoarseStepsAreLostLater) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Experiment p = make_dna({}, standard_normals(seed, 200));
    Zs zs(p.whole(), 2.0, 0.3);
    State s = advanced(zs, p.position, p.velocity, 1000);
    EXPECT_LT(std::abs(s.x.mean()), 100.0) << seed;
    EXPECT_LT(energy(p.whole(), s), 10.0) << seed;
    int steps = 1000;
    while (steps < 10'000 && s.x.allFinite() && s.x.lpNorm<Eigen::Infinity>() < 1e6) {
      zs.step(s);
      ++steps;
      if (steps == 1750) {
        EXPECT_LT(s.x.lpNorm<Eigen::Infinity>(), 1e3) << seed;
      }
    }
    EXPECT_GT(steps, 1750) << seed;
    EXPECT_LT(steps, 10'000) << seed;
  }
}

}  // namespace
}  // namespace tarn::papers
