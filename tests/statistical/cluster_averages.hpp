#pragma once

#include "engine_fixtures.hpp"
#include "tarn/analysis/errors.hpp"

/// @file
/// Averages of seven TIP3P molecules at 10.06 K in the mode of the paper: h = 0.05, friction 0.01
/// by mass, kT = 1/50 (TO 4.5).

namespace tarn::test {

inline System paper_system(const std::string& scheme, double omega, std::uint64_t seed) {
  System s;
  s.model = tip3p();
  s.molecules = 7;
  s.integrator = integrator(scheme, 0.05, omega);
  s.thermostat.kind = Thermostat::gla;
  s.thermostat.temperature_K = 10.06;
  s.thermostat.friction_oxygen_per_akma = 0.01 / s.model.mass_o_Da;
  s.thermostat.friction_hydrogen_per_akma = 0.01 / s.model.mass_h_Da;
  s.seed = seed;
  return s;
}

struct ClusterAverages {
  double potential = 0.0, potential_error = 0.0;  ///< <V0> and its standard error
  double temperature = 0.0, temperature_error = 0.0;
  std::vector<double> oo;      ///< histogram of O-O distances, bins of 0.05 A, sum 1
  double mean_distance = 0.0;  ///< of it
};

inline constexpr double kBinWidth = 0.05;

/// Velocities with which a cluster at its minimum has the mean energy of equilibrium: vibrations
/// have no potential energy yet, and get twice the kinetic one; the motion of the whole has no
/// potential energy ever. With 3 gamma/M = 1.7e-3 per unit, the thermostat alone would take a
/// thousand units.
inline void warm_up_vibrations(const WaterModel& model, State& s) {
  using Vector = Eigen::Vector3d;
  for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
    const double* x = &s.positions_A[r * s.coordinates()];
    double* v = &s.velocities_A_per_akma[r * s.coordinates()];
    const int atoms = 3 * s.molecules;
    const auto at = [](auto* c, int a) {
      return Eigen::Map<Vector>(const_cast<double*>(c) + 3 * a);
    };
    double mass = 0.0;
    Vector centre = Vector::Zero(), drift = Vector::Zero(), spin = Vector::Zero();
    for (int a = 0; a < atoms; ++a) {
      mass += model.mass_Da(a % 3);
      centre += model.mass_Da(a % 3) * at(x, a);
      drift += model.mass_Da(a % 3) * at(v, a);
    }
    centre /= mass;
    drift /= mass;
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
    for (int a = 0; a < atoms; ++a) {
      const Vector d = at(x, a) - centre;
      spin += model.mass_Da(a % 3) * d.cross(Vector(at(v, a)));
      inertia += model.mass_Da(a % 3) *
                 (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
    }
    const Vector turn = inertia.ldlt().solve(spin);
    for (int a = 0; a < atoms; ++a) {
      const Vector whole = drift + turn.cross(Vector(at(x, a) - centre));
      at(v, a) = whole + std::sqrt(2.0) * (at(v, a) - whole);
    }
  }
}

/// Runs replicas from the minimum; the spin-up shares the energy out.
inline ClusterAverages averages(const System& system, int replicas, double spin_up,
                                double duration) {
  const double h = system.integrator.timestep_akma;
  const PairCountRequest counts{.enabled = true,
                                .pairs = {true, false, false},
                                .r_max_A = 12.0,
                                .bins = static_cast<int>(std::lround(12.0 / kBinWidth)),
                                .every = std::lround(1.0 / h),
                                .first_step = std::lround(spin_up / h) + 1};
  const bool tangent = is_rigid(system.integrator.scheme);
  State start = replicas_at(system.model, minimum_of_seven(system.integrator), replicas,
                            system.thermostat.temperature_K, system.seed, tangent);
  warm_up_vibrations(system.model, start);
  const auto engine = make_cpu_engine(system, start, counts);
  engine->advance(std::lround(spin_up / h));

  constexpr double kEvery = 10.0;
  const int samples = static_cast<int>(std::lround(duration / kEvery));
  std::vector<double> v(static_cast<std::size_t>(replicas)), t(v.size());
  Frame f;
  for (int k = 0; k < samples; ++k) {
    engine->advance(std::lround(kEvery / h));
    engine->snapshot(kEnergies, f);
    if (f.energies.size() != v.size()) break;
    for (std::size_t r = 0; r < v.size(); ++r) {
      v[r] += f.energies[r].potential_kcal_per_mol / samples;
      t[r] += f.energies[r].temperature_K / samples;
    }
  }
  EXPECT_TRUE(engine->blow_ups().empty());
  const auto potential = analysis::mean_and_error(v), temperature = analysis::mean_and_error(t);
  ClusterAverages a;
  a.potential = potential.mean;
  a.potential_error = potential.error;
  a.temperature = temperature.mean;
  a.temperature_error = temperature.error;

  engine->snapshot(kPairCounts, f);
  a.oo.assign(static_cast<std::size_t>(counts.bins), 0.0);
  double all = 0.0;
  for (std::size_t g = 0; g < f.pair_samples.size(); ++g) {
    for (std::size_t b = 0; b < a.oo.size(); ++b) {
      const double c =
          static_cast<double>(f.pair_counts[g * kPairClasses * a.oo.size() + b]);  // class OO
      a.oo[b] += c;
      all += c;
    }
  }
  // Every pair of every sample lies within 12 A: the cluster holds together.
  EXPECT_EQ(all, 21.0 * replicas * std::lround(duration));
  for (std::size_t b = 0; b < a.oo.size(); ++b) {
    a.oo[b] /= all;
    a.mean_distance += a.oo[b] * (static_cast<double>(b) + 0.5) * kBinWidth;
  }
  return a;
}

/// Half the sum of the differences of two histograms.
inline double total_variation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += 0.5 * std::fabs(a[k] - b[k]);
  return sum;
}
/// Largest difference of the two distribution functions (Kolmogorov & Smirnov).
inline double largest_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0, most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k] - b[k];
    most = std::max(most, std::fabs(sum));
  }
  return most;
}

// --- what chance does ---

/// Scatter of a replica's averages over 1000 units, as 384 replicas of 5000 had it: it goes as one
/// over the root of the time.
inline constexpr double kPotentialScatter = 0.042;      ///< of <V0> [kcal/mol]
inline constexpr double kSoftPotentialScatter = 0.085;  ///< with omega = 20
inline constexpr double kTemperatureScatter = 1.15;     ///< [K]

/// Largest standard error of so many replicas: their scatter is known to one over the root of twice
/// their number, here 4.5 times that.
inline double largest_error(double scatter, int replicas, double duration) {
  return scatter * std::sqrt(1000.0 / (duration * replicas)) *
         (1.0 + 4.5 / std::sqrt(2.0 * (replicas - 1)));
}

/// One over the root of the replicas times their time in units of 32 * 1000, of two runs together.
inline double noise(double duration, int replicas, double duration_b, int replicas_b) {
  return std::sqrt(32e3 / (duration * replicas) + 32e3 / (duration_b * replicas_b));
}
/// Total variation of two histograms of the same, at most: 0.010 times the noise, as measured at
/// two noises 6 apart, with a scatter of a fourth of that, as of a sum over some 20 bins.
inline double largest_variation(double noise) { return 0.010 * noise * (1.0 + 4.5 / 4.0); }
/// Distance of the two distribution functions: 0.0016 times the noise, measured as above, with a
/// scatter of half of that; Kolmogorov's has a third, of independent samples.
inline double largest_distance_by_chance(double noise) {
  return 0.0016 * noise * (1.0 + 4.5 / 2.0);
}
/// What soft bonds change of both at omega = 20; elsewhere it goes as omega^-2.
inline constexpr double kSoftVariation = 0.155, kSoftDistance = 0.078;
inline double of_soft_bonds(double at_20, double omega) {
  return omega > 0.0 ? at_20 * (20.0 / omega) * (20.0 / omega) : 0.0;
}
/// Scatter of the difference of mean distances, as measured, times the noise [A].
inline constexpr double kMeanDistanceScatter = 4e-4;

inline void record_averages(const std::string& name, const ClusterAverages& a,
                            const ClusterAverages& reference) {
  const auto record = [&](const std::string& what, double value) {
    ::testing::Test::RecordProperty(name + "_" + what, std::to_string(value));
  };
  record("potential", a.potential);
  record("potential_error", a.potential_error);
  record("temperature", a.temperature);
  record("temperature_error", a.temperature_error);
  record("total_variation", total_variation(a.oo, reference.oo));
  record("largest_distance", largest_distance(a.oo, reference.oo));
  record("shift", a.mean_distance - reference.mean_distance);
}

}  // namespace tarn::test
