#include <iterator>

#include "physics/exchange.hpp"
#include "physics/model_table.hpp"
#include "physics/noise.hpp"
#include "physics/ring_frequencies.hpp"
#include "physics/ring_polymer.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/exchange.hpp"
#include "tarn/physics/water_model.hpp"
#include "testing.hpp"

/// @file
/// Exchanges of ring polymers of harmonic oscillators, whose distributions are known in closed
/// form.

namespace tarn {
namespace {

/// Ring polymers of independent oscillators at two temperatures, drawn from their exact
/// distributions: modes are normal with the variance P k T/(m (omega_k^2 + omega^2)).
class Oscillators {
 public:
  Oscillators(RingFrequencies kind, int beads, double lower_K, double upper_K,
              const std::vector<double>& wavenumbers_per_cm)
      : beads_(beads), wavenumbers_per_cm_(wavenumbers_per_cm) {
    system_.thermostat.kind = Thermostat::baoab;
    system_.thermostat.temperatures_K = {lower_K, upper_K};
    system_.path_integral.beads = beads;
    system_.path_integral.frequencies = kind;
    system_.path_integral.highest_wavenumber_per_cm = 4038.0;
    for (const double nu : wavenumbers_per_cm) {
      const double omega = nu / units::wavenumber_per_cm(1.0);
      springs_of_potential_.push_back(omega * omega);
    }
    for (int t = 0; t < 2; ++t) {
      for (const RingMode& mode : ring_modes(system_, temperature_K(t))) {
        springs_[t].push_back(mode.spring);
      }
    }
  }

  struct Means {
    /// [bath][reduced potential energy, centroid alone]
    analysis::MeanError before[2][2], after[2][2];
    analysis::MeanError ratio, delta;
    double acceptance = 0.0;
  };
  /// Attempts an exchange `count` times.
  Means attempt(int count) const {
    using Values = std::vector<double>;
    Values before[2][2], after[2][2], ratios, deltas;
    Means m;
    for (int n = 0; n < count; ++n) {
      Values q[2] = {sample(0, n), sample(1, n)};
      const auto note = [&](Values(&values)[2][2]) {
        for (int t = 0; t < 2; ++t) {
          values[t][0].push_back(beta(t) * potential(q[t]));
          values[t][1].push_back(beta(t) * centroid_potential(q[t]));
        }
      };
      note(before);
      const Values moved[2] = {rescaled(q[1], 1, 0), rescaled(q[0], 0, 1)};
      const double ratio =
          ring_exchange_log_ratio(beta(0), beta(1), potential(q[0]), potential(q[1]),
                                  potential(moved[0]), potential(moved[1]));
      ratios.push_back(std::exp(ratio));
      deltas.push_back(-ratio);
      m.acceptance += std::min(1.0, std::exp(ratio)) / count;
      if (uniform(n) < std::exp(ratio)) std::copy_n(moved, 2, q);
      note(after);
    }
    for (int t = 0; t < 2; ++t) {
      for (int k = 0; k < 2; ++k) {
        m.before[t][k] = analysis::mean_and_error(before[t][k]);
        m.after[t][k] = analysis::mean_and_error(after[t][k]);
      }
    }
    m.ratio = analysis::mean_and_error(ratios);
    m.delta = analysis::mean_and_error(deltas);
    return m;
  }
  /// Mean of Delta, equation (89).
  double exact_delta() const {
    const ReducedRing ring = reduced_ring(system_);
    double sum = 0.0;
    for (const double nu : wavenumbers_per_cm_) {
      sum += ring.mean_delta(reduced_frequency(nu, temperature_K(0)),
                             reduced_frequency(nu, temperature_K(1)));
    }
    return sum;
  }
  /// Mean of the potential energy of the modes over kT.
  double exact(int t, bool centroid_only) const {
    double sum = 0.0;
    for (const double spring : springs_of_potential_) {
      for (int mode = 0; mode < (centroid_only ? 1 : beads_); ++mode) {
        sum += 0.5 * spring / (springs_[t][static_cast<std::size_t>(mode)] + spring);
      }
    }
    return sum;
  }

 private:
  double temperature_K(int t) const { return replica_temperature_K(system_, t); }
  double beta(int t) const { return 1.0 / (units::boltzmann_kcal_per_mol_K * temperature_K(t)); }
  static double uniform(int n) {
    const auto words = noise_words<std::uint64_t>(5, 9, 9, static_cast<std::uint64_t>(n),
                                                  NoiseStream::exchange, 0);
    return static_cast<double>(words.w0 & 0xffffffffu) * 0x1p-32;
  }
  /// [oscillator][mode], of mass 1 Da.
  std::vector<double> sample(int t, int n) const {
    std::vector<double> q, normals;
    for (std::uint64_t call = 0; normals.size() < springs_of_potential_.size() * springs_[t].size();
         ++call) {
      const MoleculeNormals z =
          molecule_normals(7, static_cast<std::uint64_t>(t), call, static_cast<std::uint64_t>(n),
                           NoiseStream::thermostat);
      normals.insert(normals.end(), std::begin(z.xi), std::end(z.xi));
    }
    for (const double spring : springs_of_potential_) {
      for (const double ring : springs_[t]) {
        q.push_back(std::sqrt(beads_ / beta(t) / (ring + spring)) * normals[q.size()]);
      }
    }
    return q;
  }
  std::vector<double> rescaled(std::vector<double> q, int from, int to) const {
    for (std::size_t k = 0; k < q.size(); ++k) {
      if (k % springs_[0].size() > 0) q[k] *= ring_mode_factor(system_, from, to);
    }
    return q;
  }
  /// Mean over the beads; the transform to modes keeps the sum of squares.
  double potential(const std::vector<double>& q) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < q.size(); ++k) {
      sum += 0.5 * springs_of_potential_[k / springs_[0].size()] * q[k] * q[k];
    }
    return sum / beads_;
  }
  double centroid_potential(const std::vector<double>& q) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < q.size(); k += springs_[0].size()) {
      sum += 0.5 * springs_of_potential_[k / springs_[0].size()] * q[k] * q[k];
    }
    return sum / beads_;
  }

  int beads_;
  System system_;
  std::vector<double> wavenumbers_per_cm_, springs_of_potential_, springs_[2];
};

/// Exchanges leave the distribution in each bath unchanged, and the mean of exp(-Delta) is 1.
TEST(RingExchange, KeepsTheDistributionsOfOscillators) {
  for (const int beads : {1, 8, 33}) {
    for (const double upper_K : {110.0, 125.0}) {
      SCOPED_TRACE(beads);
      const Oscillators oscillators(RingFrequencies::trotter, beads, 100.0, upper_K,
                                    {60.0, 300.0, 1600.0, 3800.0});
      const Oscillators::Means m = oscillators.attempt(20000);
      for (int t = 0; t < 2; ++t) {
        for (const int part : {0, 1}) {
          const double exact = oscillators.exact(t, part == 1);
          const analysis::MeanError after = m.after[t][part];
          EXPECT_NEAR(m.before[t][part].mean, exact, 4.5 * after.error);
          EXPECT_NEAR(after.mean, exact, 4.5 * after.error);
          EXPECT_LT(after.error, 0.02 * exact);
        }
      }
      EXPECT_NEAR(m.ratio.mean, 1.0, 4.5 * m.ratio.error);
      EXPECT_LT(m.ratio.error, 0.05);
      const double delta = oscillators.exact_delta();
      EXPECT_NEAR(m.delta.mean, delta, 4.5 * m.delta.error);
      EXPECT_LT(m.delta.error, 0.02);
      // Of a normally distributed Delta, which a sum over some twenty modes is within a few
      // percent.
      EXPECT_NEAR(m.acceptance, std::erfc(0.5 * std::sqrt(delta)), 0.06);
    }
  }
}

/// Three q-TIP4P/F molecules at 100, 110 and 121 K with economised frequencies, few beads and many:
/// the acceptance of their vibrations is the estimate, and at least half that of 64 beads.
TEST(RingExchange, HasTheEstimatedAcceptanceForAllNumbersOfBeads) {
  std::vector<double> wavenumbers_per_cm;
  for (const double nu : molecule_wavenumbers_per_cm(*find_water_model("qtip4pf"))) {
    wavenumbers_per_cm.insert(wavenumbers_per_cm.end(), 3, nu);
  }
  for (const auto& [lower_K, upper_K] : {std::pair(100.0, 110.0), {110.0, 121.0}}) {
    const auto acceptance_of = [&](int beads) {
      const Oscillators oscillators(RingFrequencies::economised, beads, lower_K, upper_K,
                                    wavenumbers_per_cm);
      const Oscillators::Means m = oscillators.attempt(2000);
      EXPECT_NEAR(m.delta.mean, oscillators.exact_delta(), 4.5 * m.delta.error);
      // Of a normally distributed Delta, as above.
      EXPECT_NEAR(m.acceptance, std::erfc(0.5 * std::sqrt(oscillators.exact_delta())), 0.06);
      return m.acceptance;
    };
    const double of_many = acceptance_of(64);
    for (const int beads : {8, 16, 24, 32, 40}) {
      SCOPED_TRACE(beads);
      EXPECT_GT(acceptance_of(beads), 0.5 * of_many);
    }
  }
}

/// The spring energy over kT does not change, and the way back is the inverse, for both kinds of
/// frequencies and for all modes.
TEST(RingExchange, KeepsReducedModes) {
  System system;
  system.thermostat.kind = Thermostat::baoab;
  system.thermostat.temperatures_K = {113.0, 100.0};
  system.path_integral.beads = 12;
  system.path_integral.highest_wavenumber_per_cm = 4000.0;
  const double factor = ring_mode_factor(system, 1, 0);
  EXPECT_NEAR(factor * ring_mode_factor(system, 0, 1), 1.0, 1e-15);
  for (const RingFrequencies kind : {RingFrequencies::economised, RingFrequencies::trotter}) {
    system.path_integral.frequencies = kind;
    const std::vector<RingMode> from = ring_modes(system, 100.0), to = ring_modes(system, 113.0);
    for (std::size_t mode = 1; mode < 12; ++mode) {
      const double reduced = from[mode].spring / 100.0;
      EXPECT_NEAR(to[mode].spring * factor * factor / 113.0, reduced, 1e-14 * reduced) << mode;
    }
  }
}

}  // namespace
}  // namespace tarn
