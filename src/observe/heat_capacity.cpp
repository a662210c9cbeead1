#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "baths.hpp"
#include "core/parallel.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "steps/measure.hpp"
#include "tarn/analysis/multi_histogram.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/core/units.hpp"
#include "tarn/exchange.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using analysis::MultiHistogram;
using analysis::Reweighting;

/// Minimum number of effective samples of a row.
constexpr double kFewSamples = 100.0;
/// Minimum prominence of a reported maximum, in standard errors.
constexpr double kProminenceSigmas = 4.5;

double beta_mol_per_kcal(double temperature_K) {
  return 1.0 / (units::boltzmann_kcal_per_mol_K * temperature_K);
}

constexpr int kMostTemperatures = 240;
/// Both ends, and up to 240 multiples of a round step between them.
std::vector<double> temperatures_between(double coldest_K, double hottest_K) {
  const double least_K = (hottest_K - coldest_K) / kMostTemperatures;
  const double power = std::pow(10.0, std::floor(std::log10(least_K)));
  double step_K = 10.0 * power;
  for (const double round : {5.0, 2.5, 2.0, 1.0}) {
    if (round * power >= least_K) step_K = round * power;
  }
  // Divide by an integer: i / 10 is correctly rounded, i * 0.1 is not.
  const double per_K = std::round(1e6 / step_K) / 1e6;
  std::vector<double> temperatures_K{coldest_K};
  const double first = std::floor(coldest_K * per_K) + 1.0;
  for (int i = 0; i < kMostTemperatures && (first + i) / per_K < hottest_K; ++i) {
    if ((first + i) / per_K > temperatures_K.back()) temperatures_K.push_back((first + i) / per_K);
  }
  temperatures_K.push_back(hottest_K);
  return temperatures_K;
}

/// Position of the maximum of a unimodal function on an interval, by golden-section search.
template <class F>
double maximum_between(double low, double high, const F& f) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double f_left = f(left), f_right = f(right);
  while (high - low > 1e-5 * high) {
    if (f_left > f_right) {
      high = std::exchange(right, left);
      f_right = f_left;
      left = high - golden * (high - low);
      f_left = f(left);
    } else {
      low = std::exchange(left, right);
      f_left = f_right;
      right = low + golden * (high - low);
      f_right = f(right);
    }
  }
  return 0.5 * (low + high);
}

/// A local maximum, and the minima on both sides before a higher value.
struct Maximum {
  std::size_t at = 0, left = 0, right = 0;
  double prominence = 0.0;  // height above the higher of the two minima
};
/// The interior maximum with the largest prominence; values may be nan.
std::optional<Maximum> most_prominent(const std::vector<double>& values) {
  std::optional<Maximum> best;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    if (!(values[i] > values[i - 1] && values[i] >= values[i + 1])) continue;
    Maximum m{i, i, i};
    for (std::size_t k = i; k-- > 0 && values[k] <= values[i];) {
      if (values[k] < values[m.left]) m.left = k;
    }
    for (std::size_t k = i + 1; k < values.size() && values[k] <= values[i]; ++k) {
      if (values[k] < values[m.right]) m.right = k;
    }
    m.prominence = values[i] - std::max(values[m.left], values[m.right]);
    if (!best || m.prominence > best->prominence) best = m;
  }
  return best;
}

/// Writes heat_capacity.csv: energy and heat capacity between the lowest and the highest
/// temperature, from the samples of all baths.
class HeatCapacity final : public ArchivedObserver {
 public:
  HeatCapacity(std::int64_t every, const ObserverContext& info)
      : every_(every),
        system_(info.system),
        info_(info),
        baths_(info),
        histogram_(betas(), ladder(info.replicas - 1) + 1) {}

  std::string name() const override {
    return fmt::format("heat capacity by covariance every {}", every_);
  }
  unsigned fields() const override { return kEnergies; }
  std::int64_t every() const override { return every_; }
  bool may_lag() const override { return true; }

  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    samples_.resize(frame.live());
    constexpr std::int64_t kGrain = 1024;
    for_each_index(
        static_cast<std::int64_t>(frame.live()), info_.threads, [](int) { return 0; },
        [&](int, std::int64_t i) {
          const auto r = static_cast<std::size_t>(i);
          const Energies& e = frame.energies[r];
          const std::int64_t id = frame.replica_ids[r];
          samples_[r] = {baths_.of(id), ladder(id), canonical_energy_kcal_per_mol(system_, e),
                         configurational_energy(system_.model.is_flexible(), e)};
        },
        kGrain);
    histogram_.add_step(samples_, info_.threads);
  }

  void finish() override {
    const auto result = histogram_.result();
    warnings_.clear();
    if (!result) return;
    const Reweighting& all = result->all();
    report_gaps(all);
    for (const MultiHistogram::Inconsistency& c : result->inconsistencies()) {
      warnings_.push_back(Message::warning(
          fmt::format("not equilibrated. The energy at {:g} K is {:.1f} standard errors {} the "
                      "value predicted by the other temperatures; run longer or add [exchange]",
                      bath_K(c.bath), std::abs(c.difference) / c.error,
                      c.difference > 0.0 ? "above" : "below")));
    }
    if (!all.converged()) {
      warnings_.push_back(
          Message::warning("the multiple-histogram equations did not converge; heat_capacity.csv "
                           "has no heat capacities"));
    }
    const auto is_known = [&](double t_K, double samples) {
      return all.converged() && samples >= kFewSamples &&
             std::ranges::none_of(all.gaps(), [&](const Reweighting::Gap& gap) {
               return bath_K(gap.below) < t_K && t_K < bath_K(gap.above);
             });
    };
    const std::vector<double> temperatures_K = temperatures_between(
        baths_.temperature_K(0).value(), baths_.temperature_K(baths_.size() - 1).value());
    // Energies at all temperatures, followed by heat capacities.
    const auto curve = [&](const Reweighting& r) {
      std::vector<double> energies, capacities;
      for (const double t_K : temperatures_K) {
        const Reweighting::Moments moments = r.at(beta_mol_per_kcal(t_K));
        energies.push_back(moments.mean);
        capacities.push_back(capacity(moments, t_K));
      }
      energies.insert(energies.end(), capacities.begin(), capacities.end());
      return energies;
    };
    const std::size_t rows = temperatures_K.size();
    std::vector<double> values = curve(all), errors = result->errors(values, curve);
    std::vector<double> samples;
    for (std::size_t row = 0; row < rows; ++row) {
      samples.push_back(all.at(beta_mol_per_kcal(temperatures_K[row])).effective_samples);
      if (is_known(temperatures_K[row], samples.back())) continue;
      for (const std::size_t i : {row, rows + row}) values[i] = errors[i] = kNoNumber;
    }
    find_peak(*result, temperatures_K,
              {values.begin() + static_cast<std::ptrdiff_t>(rows), values.end()});

    io::CsvTable csv(info_.out_dir + "/heat_capacity.csv",
                     {"temperature_K", "energy_kcal_per_mol", "energy_err",
                      "heat_capacity_kcal_per_mol_K", "heat_capacity_err", "effective_samples"},
                     info_.provenance +
                         "; energy of pairs and wall, and heat capacity for rigid bonds, from the "
                         "samples of all temperatures by multiple histograms; _err = jackknife "
                         "standard error (0: unknown); nan: fewer than 100 effective samples, or "
                         "between temperatures that share fewer than 20" +
                         (peak_ ? fmt::format("; maximum at {:.3f} +- {:.3f} K", peak_->values[0],
                                              peak_->errors[0])
                                : ""));
    for (std::size_t row = 0; row < rows; ++row) {
      csv.cell(temperatures_K[row]);
      csv.cells_or_nan(values[row], errors[row], values[rows + row], errors[rows + row],
                       samples[row]);
      csv.end_row();
    }
    csv.write();
  }
  std::vector<AveragedQuantity> averages() const override {
    if (!peak_) return {};
    std::vector<AveragedQuantity> all;
    for (std::size_t i = 0; i < kPeakQuantities.size(); ++i) {
      AveragedQuantity& a =
          all.emplace_back("heat_capacity", kPeakQuantities[i], peak_->values[i], peak_->errors[i]);
      a.samples = static_cast<std::int64_t>(histogram_.samples());
      a.converged = peak_->converged;
      a.error_of_error = peak_->errors_of_errors[i];
    }
    return all;
  }
  Messages messages() const override { return warnings_; }

 private:
  void archive(io::Archive& a) override { a(histogram_); }
  std::int64_t ladder(std::int64_t replica_id) const {
    return ReplicaMap(info_.baths_K.size()).ladder(replica_id);
  }
  double bath_K(std::size_t bath) const { return baths_.temperature_K(bath).value(); }
  std::vector<double> betas() const {
    std::vector<double> betas;
    for (std::size_t bath = 0; bath < baths_.size(); ++bath) {
      betas.push_back(beta_mol_per_kcal(bath_K(bath)));
    }
    return betas;
  }
  /// Equation (53) [kcal/mol/K].
  double capacity(const Reweighting::Moments& moments, double temperature_K) const {
    constexpr double k = units::boltzmann_kcal_per_mol_K;
    return kinetic_heat_capacity(system_, info_.potential != nullptr) +
           moments.covariance / (k * temperature_K * temperature_K);
  }
  double capacity(const Reweighting& r, double temperature_K) const {
    return capacity(r.at(beta_mol_per_kcal(temperature_K)), temperature_K);
  }
  void report_gaps(const Reweighting& all) {
    const double of_a_bath = histogram_.samples() / static_cast<double>(baths_.size());
    if (!all.gaps().empty() && of_a_bath < kFewSamples) {
      warnings_.push_back(Message::warning(
          fmt::format("{:.3g} samples per temperature are too few for heat_capacity.csv; run "
                      "longer or reduce [observe.energies] every",
                      of_a_bath)));
      return;
    }
    for (const Reweighting::Gap& gap : all.gaps()) {
      warnings_.push_back(Message::warning(
          fmt::format("the temperatures up to {:g} K and from {:g} K share only {:.2g} samples. "
                      "heat_capacity.csv has no values between them; add a temperature there",
                      bath_K(gap.below), bath_K(gap.above), gap.shared)));
    }
  }
  void find_peak(const MultiHistogram::Result& result, const std::vector<double>& temperatures_K,
                 const std::vector<double>& capacities) {
    peak_.reset();
    const std::optional<Maximum> maximum = most_prominent(capacities);
    if (!maximum || !result.has_errors()) return;
    const std::size_t first = maximum->left, last = maximum->right;
    const auto peak_of = [&](const Reweighting& r) {
      std::vector<double> curve;
      for (std::size_t i = first; i <= last; ++i) curve.push_back(capacity(r, temperatures_K[i]));
      const auto highest =
          first + static_cast<std::size_t>(std::ranges::max_element(curve) - curve.begin());
      const double low_K = temperatures_K[std::max(highest, first + 1) - 1];
      const double high_K = temperatures_K[std::min(highest + 1, last)];
      const double at_K =
          maximum_between(low_K, high_K, [&](double t_K) { return capacity(r, t_K); });
      const double height = capacity(r, at_K);
      const double prominence = height - std::max(curve.front(), curve.back());
      const double half = height - 0.5 * prominence;
      // Where the curve falls below half of the prominence, by linear interpolation.
      const auto half_at_K = [&](std::size_t i, std::size_t next) {
        const double inner = curve[i - first], outer = curve[next - first];
        const double part =
            inner > outer ? std::clamp((inner - half) / (inner - outer), 0.0, 1.0) : 0.0;
        return temperatures_K[i] + part * (temperatures_K[next] - temperatures_K[i]);
      };
      std::size_t left = highest, right = highest;
      while (left > first + 1 && curve[left - 1 - first] > half) --left;
      while (right + 1 < last && curve[right + 1 - first] > half) ++right;
      const double width_K = half_at_K(right, right + 1 <= last ? right + 1 : last) -
                             half_at_K(left, left > first ? left - 1 : first);
      return std::vector<double>{at_K, height, prominence, width_K};
    };
    const std::vector<double> values = peak_of(result.all());
    const auto errors = result.errors_of(values, peak_of);
    if (!std::ranges::all_of(errors.largest, [](double e) { return std::isfinite(e); })) return;
    if (errors.sigmas(1, maximum->prominence) < kProminenceSigmas) return;
    // Errors that grow by half with the block length have not converged.
    constexpr double kGrows = 1.5;
    const bool grow = errors.largest[0] > kGrows * errors.of_shortest[0] ||
                      errors.largest[1] > kGrows * errors.of_shortest[1];
    // Errors do not cover baths that are not equilibrated.
    const bool converged = !grow && result.inconsistencies().empty();
    peak_ = {values, errors.largest, {}, converged};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double freedom = static_cast<double>(errors.parts[i]) - 1.0;
      peak_->errors_of_errors.push_back(errors.largest[i] / std::sqrt(2.0 * freedom));
    }
  }

  std::int64_t every_;
  System system_;
  RunInfo info_;
  Baths baths_;
  MultiHistogram histogram_;
  std::vector<MultiHistogram::Sample> samples_;  // of the last frame
  // The maximum with errors and their standard deviations, from the last finish(): temperature,
  // height, height above the higher of the minima on both sides, and width at half of that.
  static constexpr std::array kPeakQuantities{"peak_temperature_K", "peak_kcal_per_mol_K",
                                              "peak_prominence_kcal_per_mol_K", "peak_width_K"};
  struct Peak {
    std::vector<double> values, errors, errors_of_errors;
    bool converged;
  };
  std::optional<Peak> peak_;
  Messages warnings_;
};

/// @return null without several temperatures, with one at 0 K, or with more than 256
std::unique_ptr<Observer> make_heat_capacity(const ObserveTable& section,
                                             const ObserverContext& info) {
  if (!has_several_baths(info.baths_K) || !heat_capacity_obstacle(info.baths_K).empty()) {
    return nullptr;
  }
  return std::make_unique<HeatCapacity>(section.every, info);
}

}  // namespace

std::string heat_capacity_obstacle(const std::vector<double>& baths_K) {
  constexpr std::size_t kMostBaths = 256;
  const std::set<double> temperatures_K(baths_K.begin(), baths_K.end());
  if (temperatures_K.size() > kMostBaths) {
    return fmt::format("{} temperatures, but at most {} are supported", temperatures_K.size(),
                       kMostBaths);
  }
  if (!temperatures_K.empty() && *temperatures_K.begin() <= 0.0) {
    return "one temperature is 0 K, where the energy does not fluctuate";
  }
  return {};
}
Observable heat_capacity_observable() {
  Observable row = observable(&Deck::energies, make_heat_capacity, {"heat_capacity.csv"});
  const auto classical = row.make;
  row.make = [classical](const Deck& deck, const ObserverContext& run) {
    if (run.system.path_integral.beads == 1) return classical(deck, run);
    return deck.path_integral_table ? make_ring_heat_capacity(*deck.path_integral_table, run)
                                    : nullptr;
  };
  return row;
}

}  // namespace tarn
