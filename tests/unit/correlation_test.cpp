#include "analysis/correlation.hpp"

#include <Eigen/Geometry>

#include "tarn/analysis/cluster.hpp"
#include "testing.hpp"

namespace tarn::analysis {
namespace {

using Eigen::Vector3d;
using Positions = std::vector<double>;

constexpr double kMassO_Da = 15.9994, kMassH_Da = 1.008;
constexpr double kHalfAngle = 0.5 * 104.52 * units::pi / 180.0;

TimeCorrelation correlation_of(std::size_t molecules, std::size_t longest) {
  return {molecules, WaterModel{}, longest};
}
double mean(const CorrelationWindow& window, Correlation c, std::size_t lag) {
  return window.sums[c][lag] / window.count(c);
}

constexpr double kOh_A = 0.9572;
/// A molecule whose dipole is along the first axis, O at `at`, turned.
void append_molecule(const Eigen::Quaterniond& turn, const Vector3d& at, Positions& x) {
  const Vector3d arm(kOh_A * std::cos(kHalfAngle), kOh_A * std::sin(kHalfAngle), 0.0);
  for (const Vector3d& atom : {Vector3d(0, 0, 0), arm, Vector3d(arm.x(), -arm.y(), 0.0)}) {
    const Vector3d place = at + turn * atom;
    x.insert(x.end(), place.begin(), place.end());
  }
}
Positions lone_molecule(const Vector3d& axis, double angle) {
  Positions x;
  append_molecule(Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis)), {1.0, 2.0, 3.0}, x);
  return x;
}
/// The first window of what is at each sample.
CorrelationWindow first_window(TimeCorrelation correlation,
                               const std::function<Positions(int sample)>& at) {
  for (int sample = 0;; ++sample) {
    if (auto window = correlation.add(at(sample))) return *std::move(window);
  }
}

/// Cosines of an angle that grows evenly, of what is across the axis; what is along it stays, and
/// O-H bonds are in between.
TEST(TimeCorrelation, OfAMoleculeThatTurnsEvenlyIsACosine) {
  constexpr double kAngle = 0.03;
  constexpr std::size_t kLongest = 50;
  const auto turning = [](const Vector3d& axis) {
    return first_window(correlation_of(1, kLongest),
                        [&](int sample) { return lone_molecule(axis, kAngle * sample); });
  };
  const CorrelationWindow in_plane = turning({0, 0, 1}), about_dipole = turning({1, 0, 0});
  const auto p2 = [](double cosine) { return 1.5 * cosine * cosine - 0.5; };
  const double along = std::cos(kHalfAngle), across = std::sin(kHalfAngle);
  for (std::size_t lag = 0; lag <= kLongest; ++lag) {
    const double cosine = std::cos(kAngle * static_cast<double>(lag));
    // Sums of 32 numbers of order 1.
    constexpr double kRounding = 1e-14;
    for (const Correlation p1 : {kOhP1, kHhP1, kDipoleP1}) {
      EXPECT_NEAR(mean(in_plane, p1, lag), cosine, kRounding);
      EXPECT_NEAR(mean(in_plane, static_cast<Correlation>(p1 + 1), lag), p2(cosine), kRounding);
    }
    // Relative to the centre of mass the oxygen rotates, too.
    const double arm_A = 2.0 * kMassH_Da / (kMassO_Da + 2.0 * kMassH_Da) * along * kOh_A;
    EXPECT_NEAR(mean(in_plane, kDisplacement, lag), 2.0 * arm_A * arm_A * (1.0 - cosine),
                kRounding);
    EXPECT_NEAR(mean(about_dipole, kDipoleP1, lag), 1.0, kRounding);
    EXPECT_NEAR(mean(about_dipole, kDipoleP2, lag), 1.0, kRounding);
    EXPECT_NEAR(mean(about_dipole, kHhP1, lag), cosine, kRounding);
    const double oh = along * along + across * across * cosine;
    EXPECT_NEAR(mean(about_dipole, kOhP1, lag), oh, kRounding);
    EXPECT_NEAR(mean(about_dipole, kOhP2, lag), p2(oh), kRounding);
  }
}

/// Two molecules part by 2 v a sample, and a drift of both is none.
TEST(TimeCorrelation, DisplacementsAreFromTheCentreOfMass) {
  constexpr std::size_t kLongest = 20;
  const Vector3d v(0.01, -0.02, 0.005), drift(3.0, 1.0, -2.0);
  const CorrelationWindow window = first_window(correlation_of(2, kLongest), [&](int sample) {
    const double time = sample;
    Positions x;
    append_molecule(Eigen::Quaterniond::Identity(), time * (drift + v), x);
    append_molecule(Eigen::Quaterniond::Identity(), Vector3d(4, 0, 0) + time * (drift - v), x);
    return x;
  });
  for (std::size_t lag = 0; lag <= kLongest; ++lag) {
    const auto time = static_cast<double>(lag);
    // Positions up to 100 A have errors of 1e-14, and displacements of 0.5 A are squared.
    EXPECT_NEAR(mean(window, kDisplacement, lag), time * time * v.squaredNorm(), 1e-13);
    EXPECT_NEAR(mean(window, kOhP1, lag), 1.0, 1e-14);
  }
}

std::set<std::pair<int, int>> bonded_pairs(const Positions& x) {
  std::set<std::pair<int, int>> pairs;
  for (const HydrogenBond& bond : hydrogen_bonds(x)) {
    pairs.insert(std::minmax(bond.donor, bond.acceptor));
  }
  return pairs;
}

/// Four molecules close to each other; in each sample about half of them take new orientations.
std::vector<Positions> jumping(int samples) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const auto turn = [&] {
    return Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random))
        .normalized();
  };
  std::vector<Eigen::Quaterniond> turns(4);
  std::vector<Positions> all;
  for (int sample = 0; sample < samples; ++sample) {
    Positions x;
    for (std::size_t m = 0; m < turns.size(); ++m) {
      if (sample == 0 || normal(random) > 0.0) turns[m] = turn();
      append_molecule(turns[m], 2.8 * Vector3d(m & 1u ? 1 : 0, m & 2u ? 1 : 0, 0), x);
    }
    all.push_back(std::move(x));
  }
  return all;
}

/// Sums of one window by definition.
CorrelationWindow plain_sums(const std::vector<Positions>& samples, std::size_t first,
                             std::size_t longest) {
  CorrelationWindow window;
  for (auto& sums : window.sums) sums.assign(longest + 1, 0.0);
  const auto vector = [](const Positions& x, std::size_t m, std::size_t which) -> Vector3d {
    const auto atom = [&](std::size_t a) { return Vector3d(&x[9 * m + 3 * a]); };
    const std::array<Vector3d, 4> all{atom(1) - atom(0), atom(2) - atom(0), atom(2) - atom(1),
                                      atom(1) + atom(2) - 2.0 * atom(0)};
    return all[which].normalized();
  };
  const std::size_t n = samples[0].size() / 9;
  for (std::size_t k = 0; k < TimeCorrelation::kOrigins; ++k) {
    const std::size_t origin = first + k * TimeCorrelation::spacing(longest);
    const Positions& then = samples[origin];
    const auto bonded = bonded_pairs(then);
    auto still = bonded;
    window.molecules += static_cast<double>(n);
    window.bonds += static_cast<double>(bonded.size());
    for (std::size_t lag = 0; lag <= longest; ++lag) {
      const Positions& now = samples[origin + lag];
      const auto bonded_now = bonded_pairs(now);
      for (const auto& pair : bonded) {
        if (!bonded_now.contains(pair)) still.erase(pair);
        window.sums[kIntermittentBond][lag] += bonded_now.contains(pair) ? 1.0 : 0.0;
      }
      window.sums[kContinuousBond][lag] += static_cast<double>(still.size());
      for (std::size_t m = 0; m < n; ++m) {
        constexpr std::array kP1{kOhP1, kOhP1, kHhP1, kDipoleP1};
        for (std::size_t which = 0; which < 4; ++which) {
          const double cosine = vector(then, m, which).dot(vector(now, m, which));
          const Correlation p1 = kP1[which];
          window.sums[p1][lag] += cosine;
          window.sums[p1 + 1][lag] += 1.5 * cosine * cosine - 0.5;
        }
      }
    }
  }
  return window;
}

TEST(TimeCorrelation, IsTheSumsOfItsDefinition) {
  const std::vector<Positions> samples = jumping(180);
  for (const std::size_t longest : {1u, 2u, 15u, 16u, 17u, 33u}) {
    SCOPED_TRACE(longest);
    TimeCorrelation correlation = correlation_of(4, longest);
    std::size_t windows = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto window = correlation.add(samples[s]);
      // One by one, a window apart from the first.
      const std::size_t first = windows * TimeCorrelation::window_samples(longest);
      const bool due = s + 1 == first + TimeCorrelation::samples_to_first_window(longest);
      ASSERT_EQ(window.has_value(), due) << s;
      if (!window) continue;
      ++windows;
      const CorrelationWindow plain = plain_sums(samples, first, longest);
      EXPECT_EQ(window->molecules, plain.molecules);
      EXPECT_EQ(window->bonds, plain.bonds);
      EXPECT_GT(plain.bonds, 0.0);
      for (std::size_t lag = 0; lag <= longest; ++lag) {
        EXPECT_EQ(window->sums[kIntermittentBond][lag], plain.sums[kIntermittentBond][lag]);
        EXPECT_EQ(window->sums[kContinuousBond][lag], plain.sums[kContinuousBond][lag]);
        for (const Correlation c : {kOhP1, kOhP2, kHhP1, kHhP2, kDipoleP1, kDipoleP2}) {
          // 128 numbers of order 1.
          EXPECT_NEAR(window->sums[c][lag], plain.sums[c][lag], 1e-12);
        }
      }
      EXPECT_LT(window->sums[kContinuousBond][longest], window->sums[kContinuousBond][0]);
      EXPECT_GE(window->sums[kIntermittentBond][longest], window->sums[kContinuousBond][longest]);
    }
    EXPECT_GT(windows, 2u);
  }
}

TEST(TimeCorrelation, ContinuesFromASavedState) {
  constexpr std::size_t kLongest = 17;
  TimeCorrelation whole = correlation_of(4, kLongest), restored = correlation_of(4, kLongest);
  for (const Positions& sample : jumping(80)) {
    const std::vector<double> memory = whole.memory();
    EXPECT_LE(static_cast<double>(memory.size()), TimeCorrelation::typical_numbers(4.0, kLongest));
    restored.restore(memory);
    EXPECT_EQ(restored.memory(), memory);
    const auto expected = whole.add(sample), window = restored.add(sample);
    ASSERT_EQ(window.has_value(), expected.has_value());
    EXPECT_TRUE(!window || window->sums == expected->sums);
    EXPECT_EQ(restored.memory(), whole.memory());
  }
  // Too short, one number too many, a missing window, a sample before the origins.
  const std::vector<double> memory = whole.memory();
  std::vector<std::vector<double>> wrong(6, memory);
  wrong[0].pop_back();
  wrong[1].resize(memory.size() / 2);
  wrong[2].clear();
  wrong[3].push_back(0.0);
  wrong[4][0] = 0.0;
  wrong[5][1] = 0.0;
  for (std::size_t k = 0; k < wrong.size(); ++k) {
    EXPECT_THROW(restored.restore(wrong[k]), LayoutError) << k;
  }
}

}  // namespace
}  // namespace tarn::analysis
