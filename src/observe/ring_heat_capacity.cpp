#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "baths.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "physics/model_table.hpp"
#include "physics/ring_frequencies.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using analysis::Blocking;

constexpr double kBoltzmann = units::boltzmann_kcal_per_mol_K;
/// A bias of this part of the heat capacity is accepted even if the statistical error is smaller.
constexpr double kAcceptedBias = 0.01;

/// The vibrations of the molecules as harmonic oscillators, equation (87), exact or with the beads
/// of the run.
class Vibrations {
 public:
  explicit Vibrations(const System& system)
      : wavenumbers_per_cm_(molecule_wavenumbers_per_cm(system.model)), system_(system) {}

  double capacity(double t_K) const {
    return system_.molecules * kBoltzmann * sum(t_K, oscillator_heat_capacity);
  }
  double energy(double t_K) const {
    return system_.molecules * kBoltzmann * t_K * sum(t_K, oscillator_energy);
  }
  /// Error of the heat capacity by the covariance.
  double covariance_bias(double t_K, int beads) const {
    const ReducedRing ring = ring_with(beads);
    return system_.molecules * kBoltzmann *
               sum(t_K, [&](double x) { return ring.heat_capacity(x); }) -
           capacity(t_K);
  }
  /// Error of the difference quotient of the energies at two temperatures.
  double difference_bias(double low_K, double high_K, int beads) const {
    const ReducedRing ring = ring_with(beads);
    const auto error = [&](double t_K) {
      return system_.molecules * kBoltzmann * t_K *
                 sum(t_K, [&](double x) { return ring.energy(x); }) -
             energy(t_K);
    };
    return (error(high_K) - error(low_K)) / (high_K - low_K);
  }

 private:
  template <class F>
  double sum(double t_K, const F& f) const {
    double sum = 0.0;
    for (const double wavenumber : wavenumbers_per_cm_)
      sum += f(reduced_frequency(wavenumber, t_K));
    return sum;
  }
  ReducedRing ring_with(int beads) const {
    System system = system_;
    system.path_integral.beads = beads;
    return reduced_ring(system);
  }

  std::array<double, 3> wavenumbers_per_cm_;
  System system_;
};

/// A heat capacity with its harmonic error [kcal/mol/K].
struct Capacity {
  double low_K = 0.0, high_K = 0.0;  // equal for a covariance
  double value = kNoNumber, error = kNoNumber, bias = kNoNumber;

  double middle_K() const { return 0.5 * (low_K + high_K); }
  /// The largest accepted bias.
  double limit() const { return std::max(error, kAcceptedBias * std::abs(value - bias)); }
  bool is_refused() const { return !(std::abs(bias) <= limit()); }
};

/// Writes heat_capacity.csv of ring polymers: by the covariance of two estimators of the energy,
/// and by the difference quotient of mean energies.
class RingHeatCapacity final : public ArchivedObserver {
 public:
  RingHeatCapacity(std::int64_t every, const ObserverContext& info)
      : every_(every), system_(info.system), info_(info), baths_(info), vibrations_(info.system) {
    for (const int replicas : baths_.replicas()) per_bath_.emplace_back(replicas);
  }

  std::string name() const override {
    return fmt::format("heat capacity of ring polymers every {}", every_);
  }
  unsigned fields() const override { return kRings; }
  std::int64_t every() const override { return every_; }
  bool may_lag() const override { return true; }

  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    for (std::size_t bath = 0; bath < per_bath_.size(); ++bath) {
      ids_.clear();
      virial_.clear();
      primitive_.clear();
      for (std::size_t r = 0; r < frame.live(); ++r) {
        const std::int64_t id = frame.replica_ids[r];
        if (baths_.of(id) != bath) continue;
        ids_.push_back(baths_.index_in_bath(id));
        virial_.push_back(frame.rings[r].virial_kcal_per_mol);
        primitive_.push_back(frame.rings[r].primitive_kcal_per_mol);
      }
      per_bath_[bath].energy.add_replicas(ids_, virial_);
      per_bath_[bath].covariance.add_replicas(ids_, virial_, primitive_);
    }
  }

  void finish() override {
    messages_.clear();
    std::vector<Capacity> covariances, differences;
    std::vector<std::size_t> sampled;
    for (std::size_t bath = 0; bath < per_bath_.size(); ++bath) {
      if (has_samples(bath)) sampled.push_back(bath);
    }
    if (sampled.empty()) return;
    for (std::size_t i = 0; i < sampled.size(); ++i) {
      covariances.push_back(covariance_at(sampled[i]));
      if (i > 0) differences.push_back(difference_between(sampled[i - 1], sampled[i]));
    }
    report_bias(covariances, "the covariance", [&](const Capacity& c, int beads) {
      return vibrations_.covariance_bias(c.low_K, beads);
    });
    report_bias(differences, "the difference quotient", [&](const Capacity& c, int beads) {
      return vibrations_.difference_bias(c.low_K, c.high_K, beads);
    });
    for (std::size_t i = 0; i < differences.size(); ++i) {
      report_disagreement(differences[i], covariances[i], covariances[i + 1]);
    }

    io::CsvTable csv(
        info_.out_dir + "/heat_capacity.csv",
        {"temperature_K", "energy_kcal_per_mol", "energy_err", "heat_capacity_kcal_per_mol_K",
         "heat_capacity_err", "heat_capacity_bias", "difference_quotient_kcal_per_mol_K",
         "difference_quotient_err", "difference_quotient_bias", "classical_kcal_per_mol_K"},
        info_.provenance + remark(covariances, differences));
    const double classical = (9.0 * system_.molecules - 3.0) * kBoltzmann;
    const auto add = [&](const Capacity& c) {
      csv.cells_or_nan(c.is_refused() ? kNoNumber : c.value, c.is_refused() ? kNoNumber : c.error,
                       c.bias);
    };
    const Capacity none;
    for (std::size_t i = 0; i < sampled.size(); ++i) {
      if (i > 0) {
        csv.cell(differences[i - 1].middle_K()).cells_or_nan(kNoNumber, kNoNumber);
        add(none);
        add(differences[i - 1]);
        csv.cell(classical);
        csv.end_row();
      }
      const Blocking energy = per_bath_[sampled[i]].energy.result();
      csv.cell(covariances[i].low_K).cells_or_nan(energy.mean, energy.error);
      add(covariances[i]);
      add(none);
      csv.cell(classical);
      csv.end_row();
    }
    csv.write();
  }
  std::vector<AveragedQuantity> averages() const override {
    std::vector<AveragedQuantity> all;
    for (std::size_t bath = 0; bath < per_bath_.size(); ++bath) {
      if (!has_samples(bath)) continue;
      const Capacity c = covariance_at(bath);
      if (c.is_refused()) continue;
      const Blocking b = per_bath_[bath].covariance.result();
      const double samples = per_bath_[bath].covariance.samples();
      AveragedQuantity& a = all.emplace_back(
          AveragedQuantity{"heat_capacity", "heat_capacity_kcal_per_mol_K", c.value, c.error});
      if (samples > 1.0) a.autocorrelation_ps = b.autocorrelation_time * info_.time_ps(every_);
      a.independent_samples = samples / (2.0 * b.autocorrelation_time);
      a.samples = static_cast<std::int64_t>(samples);
      a.converged = b.converged;
      if (b.error_of_error > 0.0) a.error_of_error = c.error / b.error * b.error_of_error;
      a.bath_K = baths_.temperature_K(bath);
    }
    return all;
  }
  Messages messages() const override { return messages_; }

 private:
  void archive(io::Archive& a) override {
    for (OfBath& bath : per_bath_) a(bath.energy, bath.covariance);
  }

  struct OfBath {
    explicit OfBath(int replicas)
        : energy(analysis::PooledBlocking::of_replicas(replicas)),
          covariance(analysis::PooledCovariance::of_replicas(replicas)) {}
    analysis::PooledBlocking energy;
    analysis::PooledCovariance covariance;
  };
  double bath_K(std::size_t bath) const {
    return baths_.temperature_K(bath).value_or(replica_temperature_K(system_, 0));
  }
  bool has_samples(std::size_t bath) const { return per_bath_[bath].energy.samples() > 0.0; }
  /// Equation (88).
  Capacity covariance_at(std::size_t bath) const {
    const double t_K = bath_K(bath), factor = 1.0 / (kBoltzmann * t_K * t_K);
    const Blocking covariance = per_bath_[bath].covariance.result();
    return {t_K, t_K, 4.5 * system_.molecules * kBoltzmann + factor * covariance.mean,
            factor * covariance.error,
            vibrations_.covariance_bias(t_K, system_.path_integral.beads)};
  }
  Capacity difference_between(std::size_t low, std::size_t high) const {
    const double low_K = bath_K(low), high_K = bath_K(high), step_K = high_K - low_K;
    const Blocking below = per_bath_[low].energy.result(), above = per_bath_[high].energy.result();
    return {low_K, high_K, (above.mean - below.mean) / step_K,
            std::hypot(above.error, below.error) / step_K,
            vibrations_.difference_bias(low_K, high_K, system_.path_integral.beads)};
  }
  /// Names the number of beads for the worst value.
  /// @param bias_of a value for a number of beads
  template <class BiasOf>
  void report_bias(const std::vector<Capacity>& all, const std::string& what,
                   const BiasOf& bias_of) {
    const auto excess = [](const Capacity& c) { return std::abs(c.bias) - c.limit(); };
    const auto worst = std::ranges::max_element(all, {}, excess);
    if (worst == all.end() || !worst->is_refused()) return;
    const int beads =
        fewest_beads([&](int p) { return std::abs(bias_of(*worst, p)) <= worst->limit(); });
    const auto refused = std::ranges::count_if(all, &Capacity::is_refused);
    // Runs at one temperature are usually made for other averages.
    const Level level = baths_.size() == 1 ? Level::note : Level::warning;
    std::string text = fmt::format(
        "heat_capacity.csv: {} of {} values by {} are left out, because the error of {} beads "
        "exceeds their statistical error: {:.2g} against {:.2g} kcal/mol/K at {:g} K. Use {} beads",
        refused, all.size(), what, system_.path_integral.beads, worst->bias, worst->error,
        worst->middle_K(),
        beads == 0 ? fmt::format("more than {}", kMaxBeads) : std::to_string(beads));
    messages_.push_back({level, std::move(text)});
  }
  /// Compares a difference quotient with the covariances at both ends, without harmonic errors and
  /// with the harmonic curvature between them.
  void report_disagreement(const Capacity& difference, const Capacity& low, const Capacity& high) {
    // Between distant temperatures the curvature is not harmonic.
    constexpr double kNear = 1.15, kSigmas = 5.0;
    if (difference.is_refused() || low.is_refused() || high.is_refused()) return;
    if (high.low_K > kNear * low.low_K) return;
    const double exact =
        (vibrations_.energy(high.low_K) - vibrations_.energy(low.low_K)) / (high.low_K - low.low_K);
    const double curvature =
        exact - 0.5 * (vibrations_.capacity(low.low_K) + vibrations_.capacity(high.low_K));
    const double expected = 0.5 * (low.value - low.bias + high.value - high.bias) + curvature;
    const double found = difference.value - difference.bias;
    const double error = std::hypot(difference.error, 0.5 * std::hypot(low.error, high.error));
    if (!(error > 0.0) || std::abs(found - expected) <= kSigmas * error) return;
    messages_.push_back(Message::warning(fmt::format(
        "the heat capacities at {:g} K by the difference quotient and by covariances differ: "
        "{:.4g} and {:.4g} +- {:.2g} kcal/mol/K. Run longer, or increase [run] equilibration_ps",
        difference.middle_K(), found, expected, error)));
  }
  std::string remark(const std::vector<Capacity>& covariances,
                     const std::vector<Capacity>& differences) const {
    const auto largest = [](const std::vector<Capacity>& all) {
      const auto found =
          std::ranges::max_element(all, {}, [](const Capacity& c) { return std::abs(c.bias); });
      return fmt::format("{:.2g} at {:g} K", found->bias, found->middle_K());
    };
    std::string text = fmt::format(
        "; heat_capacity: by the covariance of two estimators, with the frequencies of the rings "
        "fixed; difference_quotient: between neighbouring temperatures; _err = standard error; "
        "_bias = error of {} beads for harmonic vibrations of {}, which is not subtracted, at most "
        "{}",
        system_.path_integral.beads,
        info_.potential ? fmt::format("the water model {}", system_.model.name) : "the molecules",
        largest(covariances));
    if (!differences.empty()) text += fmt::format(" and {}", largest(differences));
    return text +
           "; nan: this exceeds the standard error and 1 % of the value; classical: classical "
           "nuclei with harmonic vibrations";
  }

  std::int64_t every_;
  System system_;
  RunInfo info_;
  Baths baths_;
  Vibrations vibrations_;
  std::vector<OfBath> per_bath_;
  std::vector<std::int64_t> ids_;  // of the last frame and bath
  std::vector<double> virial_, primitive_;
  Messages messages_;
};

}  // namespace

std::unique_ptr<Observer> make_ring_heat_capacity(const ObserveTable& section,
                                                  const ObserverContext& info) {
  if (info.system.path_integral.beads == 1 || info.system.thermostat.kind == Thermostat::none) {
    return nullptr;
  }
  return std::make_unique<RingHeatCapacity>(section.every, info);
}

}  // namespace tarn
