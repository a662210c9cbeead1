#include "physics/bias.hpp"

#include <cmath>
#include <vector>

#include "analysis/windows.hpp"
#include "core/pack.hpp"
#include "dual.hpp"
#include "tarn/core/units.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

constexpr int kMolecules = 5;
using D = Dual<double, 3 * kMolecules>;

D scaled(const D& a, double value, double slope) {
  D r(value);
  for (std::size_t k = 0; k < a.d.size(); ++k) r.d[k] = slope * a.d[k];
  return r;
}
D exp(const D& a) { return scaled(a, std::exp(a.value), std::exp(a.value)); }
D log(const D& a) { return scaled(a, std::log(a.value), 1.0 / a.value); }
double normal(Random& random) {
  return std::sqrt(-2.0 * std::log(1.0 - random.uniform(0.0, 1.0))) *
         std::cos(2.0 * units::pi * random.uniform(0.0, 1.0));
}
constexpr BiasCoordinate kCoordinates[] = {
    BiasCoordinate::distance, BiasCoordinate::separation, BiasCoordinate::largest_separation,
    BiasCoordinate::contacts, BiasCoordinate::radius_of_gyration};

/// The definitions, written without the sums of bias_forces().
template <class T>
T defined_coordinate(const BiasTerm& b, const std::vector<Vec3<T>>& o) {
  const auto n = static_cast<int>(o.size());
  const auto distance = [](const Vec3<T>& a, const Vec3<T>& c) { return sqrt(norm2(a - c)); };
  const auto mean_without = [&](int k) {
    Vec3<T> sum = T(0.0) * o[0];
    for (int j = 0; j < n; ++j) {
      if (j != k) sum = sum + o[static_cast<std::size_t>(j)];
    }
    return T(1.0) / T(k < 0 ? n : n - 1) * sum;
  };
  const auto separation = [&](int k) {
    return distance(o[static_cast<std::size_t>(k)], mean_without(k));
  };
  T sum(0.0);
  switch (b.coordinate) {
    case BiasCoordinate::distance:
      return distance(o[static_cast<std::size_t>(b.first)], o[static_cast<std::size_t>(b.second)]);
    case BiasCoordinate::separation:
      return separation(b.first);
    case BiasCoordinate::largest_separation:
      for (int k = 0; k < n; ++k) sum = sum + exp(T(10.0) * separation(k));
      return T(0.1) * log(sum / T(n));
    case BiasCoordinate::contacts:
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
          const T u =
              distance(o[static_cast<std::size_t>(i)], o[static_cast<std::size_t>(j)]) / T(b.r0);
          const T u6 = u * u * u * u * u * u;
          sum = sum + (T(1.0) - u6) / (T(1.0) - u6 * u6);
        }
      }
      return sum;
    case BiasCoordinate::radius_of_gyration:
      for (const Vec3<T>& at : o) sum = sum + norm2(at - mean_without(-1));
      return sqrt(sum / T(n));
  }
  return sum;
}

struct Result {
  double xi;
  std::vector<Vec3<double>> forces;
};
Result forces_of(const BiasTerm& b, double centre, const std::vector<Vec3<double>>& o) {
  Result r{0.0, std::vector<Vec3<double>>(o.size(), {0.0, 0.0, 0.0})};
  r.xi = bias_forces(
      b, static_cast<int>(o.size()), centre, [&](int k) { return o[static_cast<std::size_t>(k)]; },
      [&](int k, const Vec3<double>& f) {
        auto& at = r.forces[static_cast<std::size_t>(k)];
        at = at + f;
      });
  return r;
}
std::vector<Vec3<double>> oxygens(Random& random) {
  std::vector<Vec3<double>> o;
  for (int k = 0; k < kMolecules; ++k) {
    o.push_back(random.in_ball(1.0) +
                Vec3<double>{2.5 * (k % 2), 2.5 * (k / 2 % 2), 2.5 * (k / 4)});
  }
  return o;
}

TEST(Bias, ForcesAreMinusTheGradientOfTheDefinition) {
  Random random(1);
  for (const BiasCoordinate coordinate : kCoordinates) {
    for (const BiasKind kind : {BiasKind::harmonic, BiasKind::upper_wall, BiasKind::lower_wall}) {
      const BiasTerm b{coordinate, kind, 1, 3, 3.1, 8.0};
      Worst error("bias_gradient"), value("bias_coordinate"), net("bias_net_force");
      for (int sample = 0; sample < 100; ++sample) {
        const auto o = oxygens(random);
        std::vector<Vec3<D>> dual;
        for (int k = 0; k < kMolecules; ++k) {
          const auto& at = o[static_cast<std::size_t>(k)];
          dual.push_back({D::variable(at.x, 3 * k), D::variable(at.y, 3 * k + 1),
                          D::variable(at.z, 3 * k + 2)});
        }
        const D xi = defined_coordinate(b, dual);
        const double centre = xi.value + random.uniform(-0.5, 0.5);
        const Result r = forces_of(b, centre, o);
        value.see(r.xi - xi.value);
        const double beyond = xi.value - centre;
        const bool acts =
            kind == BiasKind::harmonic || (kind == BiasKind::upper_wall) == (beyond > 0);
        EXPECT_NEAR(bias_energy(b, r.xi, centre), acts ? 4.0 * beyond * beyond : 0.0, 1e-12);
        Vec3<double> sum{0, 0, 0};
        for (int k = 0; k < kMolecules; ++k) {
          const double slope = acts ? -8.0 * beyond : 0.0;
          const Vec3<double>& f = r.forces[static_cast<std::size_t>(k)];
          sum = sum + f;
          const double wanted[3] = {slope * xi.d[3 * k], slope * xi.d[3 * k + 1],
                                    slope * xi.d[3 * k + 2]};
          error.see(f.x - wanted[0]);
          error.see(f.y - wanted[1]);
          error.see(f.z - wanted[2]);
        }
        net.see(std::sqrt(norm2(sum)));
      }
      // Coordinates of up to 10 have some 50 roundings; slopes are at most 4, gradients about 1,
      // and exponents multiply the error of a separation by ten.
      value.expect_below(10 * 50 * kEpsilon);
      error.expect_below(8 * 10 * 10 * 50 * kEpsilon);
      net.expect_below(8 * 10 * 50 * kEpsilon);
    }
  }
}

TEST(Bias, PacksAgreeWithScalarsBitForBit) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(2);
  for (const BiasCoordinate coordinate : kCoordinates) {
    const BiasTerm b{coordinate, BiasKind::harmonic, 1, 3, 3.1, 8.0};
    std::vector<std::vector<Vec3<double>>> all;
    for (int lane = 0; lane < lanes; ++lane) all.push_back(oxygens(random));
    const auto pack_of = [&](int k, auto member) {
      double numbers[lanes];
      for (int lane = 0; lane < lanes; ++lane) {
        numbers[lane] = all[static_cast<std::size_t>(lane)][static_cast<std::size_t>(k)].*member;
      }
      return Pack<double>::load(numbers);
    };
    const Pack<double> zero(0.0);
    std::vector<Vec3<Pack<double>>> forces(kMolecules, {zero, zero, zero});
    const Pack<double> xi = bias_forces(
        b, kMolecules, Pack<double>(3.0),
        [&](int k) -> Vec3<Pack<double>> {
          return {pack_of(k, &Vec3<double>::x), pack_of(k, &Vec3<double>::y),
                  pack_of(k, &Vec3<double>::z)};
        },
        [&](int k, const Vec3<Pack<double>>& f) {
          auto& at = forces[static_cast<std::size_t>(k)];
          at = at + f;
        });
    for (int lane = 0; lane < lanes; ++lane) {
      const Result r = forces_of(b, 3.0, all[static_cast<std::size_t>(lane)]);
      EXPECT_EQ(bits_of_number(xi[lane]), bits_of_number(r.xi));
      for (std::size_t k = 0; k < kMolecules; ++k) {
        EXPECT_EQ(forces[k].x[lane], r.forces[k].x);
        EXPECT_EQ(forces[k].z[lane], r.forces[k].z);
      }
    }
  }
}

/// Windows on a harmonic energy c x^2: samples are normal, and the profile is known.
TEST(Windows, ProfileOfAHarmonicEnergy) {
  constexpr double kKt = 0.6, kCurvature = 1.5;
  constexpr int kSeries = 16, kSamples = 2000;
  const BiasSpec bias{.stiffness = 6.0, .centres = {-1.0, -0.4, 0.2, 0.8}};
  Random random(3);
  std::vector<analysis::WindowSample> samples;
  for (int window = 0; window < 4; ++window) {
    const double k = 2.0 * kCurvature + bias.stiffness;
    const double mean = bias.stiffness * bias.centres[static_cast<std::size_t>(window)] / k;
    for (int n = 0; n < kSamples; ++n) {
      samples.push_back({mean + std::sqrt(kKt / k) * normal(random), window, n % kSeries});
    }
  }
  const auto profile = analysis::free_energy_profile(bias, kKt, samples, kSeries, 0.05, 2);
  // Free energies of the windows: -kT ln of Gaussian integrals.
  const auto window_energy = [&](double c) {
    return kCurvature * bias.stiffness * c * c / (2.0 * kCurvature + bias.stiffness);
  };
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(profile.windows_kcal_per_mol[k],
                window_energy(bias.centres[k]) - window_energy(-1.0), 4.5 * 0.02);
  }
  // The zero is that of the lowest bin, the smallest of several: compared at the weighted mean.
  std::vector<std::pair<double, double>> differences;
  double weights = 0.0, offset = 0.0, chi2 = 0.0;
  for (const auto& p : profile.points) {
    if (p.samples < 100 || p.error == 0.0) continue;
    const double difference = p.free_energy_kcal_per_mol - kCurvature * p.coordinate * p.coordinate;
    differences.emplace_back(difference, p.error);
    weights += 1.0 / (p.error * p.error);
    offset += difference / (p.error * p.error);
  }
  ASSERT_GT(differences.size(), 15u);
  for (const auto& [difference, error] : differences) {
    chi2 += std::pow((difference - offset / weights) / error, 2);
  }
  const double mean = chi2 / static_cast<double>(differences.size());
  EXPECT_LT(mean, 1.0 + 4.5 * std::sqrt(2.0 / 15.0));
  EXPECT_GT(mean, 0.1);
  for (const double overlap : profile.overlaps) EXPECT_GT(overlap, 0.1);
  // The result does not depend on the number of threads.
  const auto again = analysis::free_energy_profile(bias, kKt, samples, kSeries, 0.05, 1);
  EXPECT_EQ(again.windows_kcal_per_mol, profile.windows_kcal_per_mol);
}

TEST(Windows, WindowsThatDoNotOverlapAreSeen) {
  const BiasSpec bias{.stiffness = 6.0, .centres = {0.0, 9.0}};
  std::vector<analysis::WindowSample> samples;
  for (int n = 0; n < 100; ++n) {
    samples.push_back({0.01 * n, 0, n % 4});
    samples.push_back({9.0 + 0.01 * n, 1, n % 4});
  }
  EXPECT_EQ(analysis::free_energy_profile(bias, 0.6, samples, 4, 0.1, 1).overlaps,
            std::vector<double>{0.0});
}

}  // namespace
}  // namespace tarn
