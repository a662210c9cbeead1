#include "analysis/spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
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

/// Power spectra of a segment by replica id: [frequency] of sqrt(m) v [kcal/mol], and then of the
/// dipole velocity [e^2 A^2/akma^2].
using Powers = std::map<std::int64_t, std::vector<double>>;

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
  unsigned fields() const override {
    if (history_) return kNoFields;
    return has_dipoles() ? kVelocities | kDipoles : kVelocities;
  }
  void keep_in(Engine& engine) override {
    if (has_dipoles()) return;
    take_history();
    history_.reset();
    HistoryRequest request;
    request.replicas = replicas_;
    request.samples = static_cast<int>(samples_);
    request.weights = masses_Da_;
    request.current_weight = square_of_charge();
    for (const auto& [id, velocities] : velocities_) {
      const auto bytes = std::as_bytes(std::span(velocities));
      request.memory[id].assign(bytes.begin(), bytes.end());
    }
    history_ = engine.keep_history(request);
    if (history_) velocities_.clear();
  }
  std::int64_t every() const override {
    return gathered_ == 0 ? info_.first_sample(section_.every) : section_.every;
  }
  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    if (history_) {
      const Powers powers = history_->sample(static_cast<std::int64_t>(gathered_++));
      if (gathered_ == samples_) end_segment(powers);
      return;
    }
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
    if (gathered_ == samples_) end_segment(powers_of_velocities());
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
    take_history();
    a(gathered_, segments_, velocities_);
    if (history_) velocities_.clear();
    a.fixed(states_, absorption_);
  }
  /// Fills the velocities from the memory of the engine.
  void take_history() {
    if (!history_ || gathered_ == 0) return;
    for (const auto& [id, bytes] : history_->memory()) {
      std::vector<float>& velocities = velocities_[id];
      velocities.resize(gathered_ * numbers());
      std::memcpy(velocities.data(), bytes.data(), velocities.size() * sizeof(float));
    }
  }
  std::size_t coordinates() const { return static_cast<std::size_t>(info_.molecules) * 9; }
  /// Whether the dipole moments are not those of charges on the atoms.
  bool has_dipoles() const { return !info_.potential && info_.system.model.is_many_body(); }
  /// Stored per sample: velocities, and the dipole moment.
  std::size_t numbers() const { return coordinates() + (has_dipoles() ? 3 : 0); }
  /// Computes the powers of a segment, and drops its first half.
  Powers powers_of_velocities() {
    Powers powers;
    std::vector<Powers::value_type*> all;
    for (const auto& [id, v] : velocities_) all.push_back(&*powers.try_emplace(id).first);
    for_each_index(
        std::ssize(all), info_.threads, [&](int) { return analysis::Periodogram(samples_); },
        [&](analysis::Periodogram& periodogram, std::int64_t i) {
          auto& [id, power] = *all[static_cast<std::size_t>(i)];
          power = power_of(velocities_.at(id), periodogram);
        });
    const auto half = static_cast<std::ptrdiff_t>(samples_ / 2 * numbers());
    for (auto& [id, velocities] : velocities_) {
      velocities.erase(velocities.begin(), velocities.begin() + half);
    }
    return powers;
  }
  void end_segment(const Powers& powers) {
    // One value per series: the sum over its replicas, in order.
    const std::size_t series = analysis::PooledBlocking::series_of_replicas(replicas_);
    const std::size_t frequencies = states_.size() - 1;
    for (std::size_t s = 0; s < series; ++s) {
      std::vector<double> kinetic(frequencies + 1, 0.0), dipole(frequencies + 1, 0.0);
      double weight = 0.0;
      for (const auto& [id, power] : powers) {
        if (sample_group(id, series) != s) continue;
        const auto middle = power.begin() + std::ssize(power) / 2;
        std::transform(power.begin(), middle, kinetic.begin(), kinetic.begin(), std::plus());
        std::transform(middle, power.end(), dipole.begin(), dipole.begin(), std::plus());
        const double sum = std::accumulate(power.begin(), middle, 0.0);
        kinetic.back() += sum;
        dipole.back() += std::accumulate(middle, power.end(), 0.0);
        weight += kT_of(sum);
      }
      if (!(weight > 0.0) || !std::isfinite(weight)) continue;  // no motion
      for (std::size_t k = 0; k <= frequencies; ++k) {
        states_[k].add(s, kinetic[k], weight);
        absorption_[k].add(s, dipole[k], weight);
      }
    }
    gathered_ -= samples_ / 2;
    segments_ += std::ssize(powers);
  }
  /// @param velocities [sample][number]
  std::vector<double> power_of(const std::vector<float>& velocities,
                               analysis::Periodogram& periodogram) const {
    const std::size_t frequencies = periodogram.frequencies();
    std::vector<double> power(2 * frequencies);
    const std::span kinetic(power.data(), frequencies), dipole(&power[frequencies], frequencies);
    periodogram.add(velocities, masses_Da_, kinetic);
    if (has_dipoles()) {
      add_dipole_power(velocities, periodogram, dipole);
    } else {
      add_charge_power(velocities, periodogram, dipole);
    }
    return power;
  }
  /// The power of the derivative of the dipole moments: omega^2 times theirs.
  void add_dipole_power(const std::vector<float>& velocities, analysis::Periodogram& periodogram,
                        std::span<double> power) const {
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
                        std::span<double> power) const {
    std::vector<float> series(3 * samples_);
    for (std::size_t j = 0; j < samples_; ++j) {
      for (std::size_t m = j * coordinates(); m < (j + 1) * coordinates(); m += 9) {
        const float* const v = &velocities[m];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          series[3 * j + axis] += v[axis + 3] + v[axis + 6] - 2.0F * v[axis];
        }
      }
    }
    periodogram.add(series, std::vector(3, square_of_charge()), power);
  }
  double square_of_charge() const { return std::pow(info_.system.model.dipole_charge_e(), 2); }
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
  std::unique_ptr<History> history_;  // in place of the velocities
  std::int64_t segments_ = 0;         // summed over replicas
  Means states_, absorption_;
};

}  // namespace

Observable spectrum_observable() {
  return observable(&Deck::spectrum, construct<SpectrumObserver>, {"spectrum.*"},
                    "; of the centroids");
}

}  // namespace tarn
