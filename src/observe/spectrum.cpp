#include "analysis/spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "core/parallel.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// Power spectrum of a segment of one replica; the last element is the sum.
struct SegmentPower {
  std::vector<double> kinetic;  // power of sqrt(m) v [kcal/mol]
  std::vector<double> dipole;   // power of the dipole velocity [e^2 A^2/akma^2]
};

/// Means over the segments per frequency; the last element is that of the sum.
using Means = std::vector<analysis::PooledBlocking>;

/// Stores the velocities of a segment, computes its power spectrum when it is complete, and then
/// drops its first half: segments overlap by half.
class SpectrumObserver final : public ArchivedObserver {
 public:
  SpectrumObserver(const ObserveSpectrum& section, const ObserverContext& info)
      : section_(section),
        info_(info),
        samples_(spectrum_samples(section, info.timestep_fs)),
        replicas_(section.replicas.count_of(info.replicas)) {
    const ClusterMasses masses(info.system);
    for (std::size_t c = 0; c < coordinates(); ++c) {
      masses_Da_.push_back(masses.atom_Da(c / 9, c / 3 % 3));
    }
    const double interval_fs = static_cast<double>(section.every) * info.timestep_fs;
    spacing_per_cm_ =
        1.0 / (static_cast<double>(samples_) * interval_fs * units::speed_of_light_cm_per_fs);
    if (!info.baths_K.empty()) kT_ = units::boltzmann_kcal_per_mol_K * info.baths_K.front();
    degrees_ = (is_rigid(info_.system.integrator.scheme) ? 6.0 : 9.0) * info.molecules;
    if (info_.system.zero_momentum) degrees_ -= 6.0;
    const auto means = analysis::PooledBlocking::of_replicas(replicas_);
    states_.assign(samples_ / 2 + 2, means);
    absorption_.assign(samples_ / 2 + 2, means);
  }

  std::string name() const override {
    return fmt::format("spectrum every {} samples {} from step {} replicas {}", section_.every,
                       samples_, info_.first_averaged_step, selection_text(section_.replicas));
  }
  unsigned fields() const override { return has_dipoles() ? kVelocities | kDipoles : kVelocities; }
  std::int64_t every() const override {
    return gathered_ == 0 ? info_.first_sample(section_.every) : section_.every;
  }
  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      if (id >= replicas_) continue;
      std::vector<float>& velocities = velocities_[id];
      velocities.reserve(samples_ * numbers());
      const double* const v = &frame.velocities_A_per_akma[r * coordinates()];
      velocities.insert(velocities.end(), v, v + coordinates());
      if (!has_dipoles()) continue;
      for (const double d : frame.dipoles_e_A[r]) velocities.push_back(static_cast<float>(d));
    }
    ++gathered_;
    // Stopped replicas have fewer samples.
    std::erase_if(velocities_, [&](const auto& replica) {
      return replica.second.size() != gathered_ * numbers();
    });
    if (gathered_ == samples_) end_segment();
  }
  void finish() override {
    io::CsvTable csv(info_.out_dir + "/spectrum.csv",
                     {"wavenumber_per_cm", "states_cm", "states_cm_err", "absorption_km_cm_per_mol",
                      "absorption_km_cm_per_mol_err"},
                     info_.provenance +
                         "; density of states in modes per 1/cm and absorption of the cluster in "
                         "km/mol per 1/cm, "
                         "equations (56) and (57); _err = standard error by blocking (0: unknown)");
    const std::size_t rows = segments_ > 0 ? samples_ / 2 + 1 : 0;
    for (std::size_t k = 0; k < rows; ++k) {
      // The first and last rows represent half an interval.
      const double width = (k == 0 || k + 1 == rows ? 0.5 : 1.0) * spacing_per_cm_;
      csv.cell(static_cast<double>(k) * spacing_per_cm_);
      for (const auto& [means, unit] :
           {std::pair(&states_, 1.0), {&absorption_, units::absorption_km_per_mol_Da_per_e2}}) {
        const analysis::Blocking mean = (*means)[k].result();
        csv.cells(unit / width * mean.mean, unit / width * mean.error);
      }
      csv.end_row();
    }
    csv.write();
  }
  std::vector<AveragedQuantity> averages() const override {
    std::vector<AveragedQuantity> all;
    if (segments_ == 0) return all;
    const auto add = [&](const char* quantity, const analysis::PooledBlocking& sums, double unit) {
      const analysis::Blocking mean = sums.result();
      AveragedQuantity& a = all.emplace_back(
          AveragedQuantity{"spectrum", quantity, unit * mean.mean, unit * mean.error});
      // Consecutive segments start half a segment apart.
      a.autocorrelation_ps = mean.autocorrelation_time * info_.time_ps(section_.every) *
                             static_cast<double>(samples_ / 2);
      a.independent_samples = static_cast<double>(segments_) / (2.0 * mean.autocorrelation_time);
      a.samples = segments_;
      a.converged = mean.converged;
    };
    // Without a bath, kT comes from the segments and the number of states is fixed.
    if (kT_ > 0.0) add("states", states_.back(), 1.0);
    add("absorption_km_per_mol", absorption_.back(), units::absorption_km_per_mol_Da_per_e2);
    return all;
  }

 private:
  void archive(io::Archive& a) override {
    a(gathered_, segments_, velocities_);
    a.fixed(states_, absorption_);
  }
  std::size_t coordinates() const { return static_cast<std::size_t>(info_.molecules) * 9; }
  /// Whether the dipole moments are not those of charges on the atoms.
  bool has_dipoles() const { return !info_.potential && info_.system.model.is_many_body(); }
  /// Stored per sample: velocities, and the dipole moment.
  std::size_t numbers() const { return coordinates() + (has_dipoles() ? 3 : 0); }
  void end_segment() {
    std::vector<std::int64_t> ids;
    for (const auto& [id, velocities] : velocities_) ids.push_back(id);
    std::vector<SegmentPower> powers(ids.size());
    for_each_index(
        static_cast<std::int64_t>(ids.size()), info_.threads,
        [&](int) { return analysis::Periodogram(samples_); },
        [&](analysis::Periodogram& periodogram, std::int64_t i) {
          const auto at = static_cast<std::size_t>(i);
          powers[at] = power_of(velocities_.at(ids[at]), periodogram);
        });
    // One value per series: the sum over its replicas, in order.
    const std::size_t series = analysis::PooledBlocking::series_of_replicas(replicas_);
    for (std::size_t s = 0; s < series; ++s) {
      std::vector<double> kinetic(states_.size(), 0.0), dipole(states_.size(), 0.0);
      double weight = 0.0;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (sample_group(ids[i], series) != s) continue;
        for (std::size_t k = 0; k < kinetic.size(); ++k) {
          kinetic[k] += powers[i].kinetic[k];
          dipole[k] += powers[i].dipole[k];
        }
        weight += kT_of(powers[i].kinetic.back());
      }
      if (!(weight > 0.0) || !std::isfinite(weight)) continue;  // no motion
      for (std::size_t k = 0; k < kinetic.size(); ++k) {
        states_[k].add(s, kinetic[k], weight);
        absorption_[k].add(s, dipole[k], weight);
      }
    }
    const auto half = static_cast<std::ptrdiff_t>(samples_ / 2 * numbers());
    for (auto& [id, velocities] : velocities_) {
      velocities.erase(velocities.begin(), velocities.begin() + half);
    }
    gathered_ -= samples_ / 2;
    segments_ += static_cast<std::int64_t>(ids.size());
  }
  /// @param velocities [sample][number]
  SegmentPower power_of(const std::vector<float>& velocities,
                        analysis::Periodogram& periodogram) const {
    SegmentPower power{std::vector<double>(states_.size(), 0.0),
                       std::vector<double>(states_.size(), 0.0)};
    periodogram.add(velocities, masses_Da_, power.kinetic);
    if (has_dipoles()) {
      add_dipole_power(velocities, periodogram, power.dipole);
    } else {
      add_charge_power(velocities, periodogram, power.dipole);
    }
    power.kinetic.back() = std::accumulate(power.kinetic.begin(), power.kinetic.end() - 1, 0.0);
    power.dipole.back() = std::accumulate(power.dipole.begin(), power.dipole.end() - 1, 0.0);
    return power;
  }
  /// The power of the derivative of the dipole moments: omega^2 times theirs.
  void add_dipole_power(const std::vector<float>& velocities, analysis::Periodogram& periodogram,
                        std::vector<double>& power) const {
    std::vector<float> series(3 * samples_);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto dipole = [&](std::size_t j) -> double {
        return velocities[j * numbers() + coordinates() + axis];
      };
      double mean = 0.0;
      for (std::size_t j = 0; j < samples_; ++j) mean += dipole(j) / static_cast<double>(samples_);
      // Without the mean, which the window would spread.
      for (std::size_t j = 0; j < samples_; ++j) {
        series[3 * j + axis] = static_cast<float>(dipole(j) - mean);
      }
    }
    std::vector<double> of_dipole(power.size(), 0.0);
    periodogram.add(series, std::array{1.0, 1.0, 1.0}, of_dipole);
    for (std::size_t k = 0; k < power.size(); ++k) {
      const double omega = static_cast<double>(k) * spacing_per_cm_ / units::wavenumber_per_cm(1.0);
      power[k] += omega * omega * of_dipole[k];
    }
  }
  /// The power of the currents of the charges.
  void add_charge_power(const std::vector<float>& velocities, analysis::Periodogram& periodogram,
                        std::vector<double>& power) const {
    std::vector<float> series(3 * samples_);
    for (std::size_t j = 0; j < samples_; ++j) {
      for (std::size_t m = j * coordinates(); m < (j + 1) * coordinates(); m += 9) {
        const float* const v = &velocities[m];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          series[3 * j + axis] += v[axis + 3] + v[axis + 6] - 2.0F * v[axis];
        }
      }
    }
    const double square = std::pow(info_.system.model.dipole_charge_e(), 2);
    periodogram.add(series, std::array{square, square, square}, power);
  }
  /// kT of the bath or, without one, of the segment.
  double kT_of(double kinetic) const { return kT_ > 0.0 ? kT_ : kinetic / degrees_; }

  ObserveSpectrum section_;
  ObserverContext info_;
  std::vector<double> masses_Da_;  // of each coordinate
  std::size_t samples_;            // per segment
  int replicas_;
  double spacing_per_cm_ = 0.0;
  double kT_ = 0.0;  // 0: no bath
  double degrees_ = 0.0;

  std::size_t gathered_ = 0;  // samples in the current segment
  // By replica id, [sample][coordinate]. Rounding to float changes the power by a fraction of
  // 10^-15.
  std::map<std::int64_t, std::vector<float>> velocities_;
  std::int64_t segments_ = 0;  // summed over replicas
  Means states_, absorption_;
};

}  // namespace

Observable spectrum_observable() {
  return observable(&Deck::spectrum, construct<SpectrumObserver>, {"spectrum.*"},
                    "; of the centroids");
}

}  // namespace tarn
