#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "analysis/survival.hpp"
#include "baths.hpp"
#include "core/bisect.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using analysis::Exposure;
using analysis::Rate;
using analysis::SurvivalCurve;

/// With this many departures, the relative error of a rate is about a third.
constexpr std::int64_t kEnoughDepartures = 10;
constexpr double kSigmas = 4.5;

/// Sums for a mean and its standard error.
struct Sum {
  double values = 0.0, squares = 0.0;

  void add(double value) {
    values += value;
    squares += value * value;
  }
  analysis::MeanError mean(std::int64_t n) const {
    const auto count = static_cast<double>(n);
    const double mean = values / count, spread2 = std::max(0.0, squares / count - mean * mean);
    return {n > 0 ? mean : kNoNumber, n > 1 ? std::sqrt(spread2 / (count - 1.0)) : 0.0};
  }
};

/// Records when each replica loses its first molecule.
class EvaporationObserver final : public ArchivedObserver {
 public:
  EvaporationObserver(const ObserveEvaporation& section, const ObserverContext& info)
      : section_(section),
        info_(info),
        baths_(info),
        fates_(static_cast<std::size_t>(info.replicas), Fate::not_followed),
        per_bath_(baths_.size()),
        csv_(path("evaporation.csv"), columns()) {}

  std::string name() const override {
    return fmt::format("evaporation every {} link {} A from step {}", section_.every,
                       io::exact(section_.link_A), info_.first_averaged_step);
  }
  std::vector<std::string> files() const override {
    return {"evaporation.csv", "evaporation.svg", "evaporation.png", "survival.csv",
            "evaporation_rates.csv"};
  }
  unsigned fields() const override { return kParts | kEnergies; }
  void configure(MeasureSettings& settings) const override { settings.link_A = section_.link_A; }
  bool may_lag() const override { return true; }
  std::int64_t every() const override { return section_.every; }
  void begin() override {
    csv_.create(info_.provenance +
                fmt::format("; one row per replica, when an oxygen is first detected farther than "
                            "{:g} A from those of the largest part; molecule (from 0) = first "
                            "evaporated molecule; relative_kinetic = evaporated molecules relative "
                            "to the rest; potential = all parts together",
                            section_.link_A));
  }
  void observe(const Frame& frame) override {
    if (frame.step < info_.first_averaged_step) return;
    last_ = frame.step;
    if (start_ < 0) return begin_waiting(frame);
    std::vector<std::int64_t> at_risk(per_bath_.size(), 0), events(per_bath_.size(), 0);
    for (std::size_t r = 0; r < frame.live(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      Fate& fate = fates_[static_cast<std::size_t>(id)];
      if (fate == Fate::not_followed || fate == Fate::returned) continue;
      const bool is_whole = frame.parts[r].molecules_gone == 0;
      const std::size_t bath = baths_.of(id);
      if (fate == Fate::departed) {
        if (is_whole) fate = Fate::returned;
        per_bath_[bath].returns += is_whole;
        continue;
      }
      ++at_risk[bath];
      if (is_whole) {
        ++per_bath_[bath].whole_looks;
        per_bath_[bath].whole_potentials += frame.energies[r].potential_kcal_per_mol;
        continue;
      }
      ++events[bath];
      fate = Fate::departed;
      take_departure(frame, r, per_bath_[bath]);
    }
    for (std::size_t b = 0; b < per_bath_.size(); ++b) {
      per_bath_[b].curve.observe(frame.step, at_risk[b], events[b]);
    }
  }
  void finish() override {
    csv_.flush();
    write_survival();
    write_rates();
  }
  std::vector<AveragedQuantity> averages() const override {
    std::vector<AveragedQuantity> all;
    std::int64_t all_departures = 0, most = 0;
    for (std::size_t b = 0; b < per_bath_.size(); ++b) {
      const Bath& bath = per_bath_[b];
      const std::int64_t of_bath = departures(bath);
      const Rate r = rate(bath);
      if (std::isnan(r.value)) continue;
      AveragedQuantity& a =
          all.emplace_back("evaporation", "evaporation_rate_per_ns", r.value, r.error);
      a.independent_samples = static_cast<double>(of_bath);
      a.samples = bath.replicas;
      a.converged = of_bath >= kEnoughDepartures;
      a.bath_K = baths_.temperature_K(b);
      all_departures += of_bath;
      most = std::max(most, of_bath);
    }
    if (const auto fitted = fit()) {
      AveragedQuantity& a = all.emplace_back("evaporation", "activation_energy_kcal_per_mol",
                                             fitted->activation, fitted->activation_error);
      a.independent_samples = static_cast<double>(all_departures);
      a.samples = followed();
      a.converged = all_departures - most >= kEnoughDepartures;
    }
    return all;
  }
  Messages messages() const override {
    Messages messages;
    if (start_ >= 0 && followed() == 0) {
      messages.push_back(
          Message::warning(fmt::format("evaporation: no replica was whole at step {}. Check that "
                                       "link_A = {:g} A exceeds the distances between neighbours",
                                       start_, section_.link_A)));
    }
    std::int64_t gone = 0, returns = 0;
    for (const Bath& bath : per_bath_) {
      gone += departures(bath);
      returns += bath.returns;
    }
    if (gone + parted_ > 0) {
      messages.push_back(Message::note(fmt::format(
          "evaporation: {} of {} replicas have lost a molecule{}. Averages of other tables include "
          "their separate parts",
          gone, followed(),
          parted_ > 0 ? fmt::format(", and {} more were not whole at the first check ({:g} ps)",
                                    parted_, info_.time_ps(start_))
                      : "")));
    }
    if (returns > 0) {
      messages.push_back(Message::warning(fmt::format(
          "evaporation: {} of the {} replicas were whole again later, but count as evaporated{}. "
          "For fewer returns, reduce the friction, which acts in the vacuum too, or increase "
          "link_A",
          returns, gone,
          2 * returns > gone ? "; the rate is therefore that of reaching link_A, not of evaporation"
                             : "")));
    }
    if (start_ >= 0 && rate_has_changed()) {
      messages.push_back(Message::warning(
          "evaporation: the rate differs significantly between the two halves of the waiting time. "
          "Possible causes: clusters not equilibrated ([run] equilibration_ps), a bath that heats "
          "clusters more slowly than evaporation cools them, or clusters of different energy or "
          "shape that evaporate at different rates"));
    }
    if (const auto fitted = fit(); fitted && fitted->degrees > 0) {
      // Convert chi squared to a normal deviate (Wilson & Hilferty 1931).
      const double spread2 = 2.0 / (9.0 * fitted->degrees);
      const double root = std::cbrt(fitted->deviance / fitted->degrees);
      if ((root - (1.0 - spread2)) / std::sqrt(spread2) > kSigmas) {
        messages.push_back(Message::note(
            fmt::format("evaporation: ln k against 1/T is not linear (chi squared {:.3g} for {} "
                        "degrees of freedom); the activation energy is an average",
                        fitted->deviance, fitted->degrees)));
      }
    }
    return messages;
  }

 private:
  void archive(io::Archive& a) override {
    a(csv_, start_, last_, parted_);
    std::vector<std::int64_t> numbers;
    for (const Fate fate : fates_) numbers.push_back(static_cast<std::int64_t>(fate));
    a(numbers);
    if (numbers.size() != fates_.size())
      throw LayoutError("the status list of its replicas is invalid");
    for (std::size_t i = 0; i < numbers.size(); ++i) fates_[i] = static_cast<Fate>(numbers[i]);
    a.fixed(per_bath_);
  }

  /// Status of a replica; those that were not whole at the first check are not followed.
  enum class Fate : signed char { not_followed, whole, departed, returned };

  struct Bath {
    std::int64_t replicas = 0;  ///< whole at the first check
    std::int64_t returns = 0;
    std::int64_t single = 0;  ///< departures of a single molecule
    SurvivalCurve curve{};
    Sum kinetic{}, potential{};  ///< at departure [kcal/mol]
    std::int64_t whole_looks = 0;
    double whole_potentials = 0.0;  ///< summed over whole replicas and checks [kcal/mol]

    void archive(io::Archive& a) {
      a(replicas, returns, single, whole_looks, kinetic.values, kinetic.squares, potential.values,
        potential.squares, whole_potentials, curve);
    }
  };

  /// Replicas that were whole at the first check.
  std::int64_t followed() const {
    return static_cast<std::int64_t>(fates_.size()) -
           std::count(fates_.begin(), fates_.end(), Fate::not_followed);
  }
  bool several() const { return baths_.size() > 1; }
  std::string path(const char* name) const { return info_.out_dir + "/" + name; }
  std::vector<std::string> columns() const {
    std::vector<std::string> names{"step", "time_ps", "replica"};
    if (several()) names.emplace_back("bath_K");
    names.insert(names.end(), {"molecule", "molecules_gone", "relative_kinetic_kcal_per_mol",
                               "potential_kcal_per_mol"});
    return names;
  }
  /// Bath temperature; empty without a thermostat.
  std::optional<double> temperature_K(std::size_t bath) const {
    if (several() || info_.baths_K.empty()) return baths_.temperature_K(bath);
    return info_.baths_K.front();
  }
  /// Exposure from the checks after step `begin` up to step `end` [ns].
  Exposure exposure(const Bath& bath, std::int64_t begin, std::int64_t end) const {
    Exposure e = bath.curve.exposure(begin, end, section_.every);
    e.time *= info_.timestep_fs * 1e-6;
    return e;
  }
  Exposure exposure(const Bath& bath) const { return exposure(bath, start_, last_); }
  std::int64_t departures(const Bath& bath) const { return exposure(bath).events; }
  Rate rate(const Bath& bath) const { return rate_of(exposure(bath)); }
  /// Arrhenius fit over the baths above 0 K, if there are several temperatures.
  std::optional<analysis::ArrheniusFit> fit() const {
    if (!several()) return std::nullopt;
    std::vector<double> betas;
    std::vector<Exposure> exposures;
    for (std::size_t b = 0; b < per_bath_.size(); ++b) {
      if (!(baths_.temperature_K(b).value() > 0.0)) continue;
      betas.push_back(beta(b));
      exposures.push_back(exposure(per_bath_[b]));
    }
    return analysis::fit_arrhenius(betas, exposures);
  }
  double beta(std::size_t bath) const {
    return 1.0 / (units::boltzmann_kcal_per_mol_K * temperature_K(bath).value_or(0.0));
  }
  void begin_waiting(const Frame& frame) {
    start_ = frame.step;
    for (std::size_t r = 0; r < frame.live(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      if (frame.parts[r].molecules_gone > 0) {
        ++parted_;
        continue;
      }
      fates_[static_cast<std::size_t>(id)] = Fate::whole;
      ++per_bath_[baths_.of(id)].replicas;
    }
    for (Bath& bath : per_bath_) bath.curve.begin(frame.step, bath.replicas);
  }
  void take_departure(const Frame& frame, std::size_t r, Bath& bath) {
    const std::int64_t id = frame.replica_ids[r];
    const ClusterParts& parts = frame.parts[r];
    const double kinetic = parts.relative_kinetic_kcal_per_mol;
    const double potential = frame.energies[r].potential_kcal_per_mol;
    csv_.cells(frame.step, info_.time_of(frame), id);
    if (several()) csv_.cell(baths_.temperature_K(baths_.of(id)).value());
    csv_.cells(parts.first_gone, parts.molecules_gone, kinetic, potential);
    csv_.end_row();
    bath.single += parts.molecules_gone == 1;
    bath.kinetic.add(kinetic);
    bath.potential.add(potential);
  }
  void write_survival() const {
    std::vector<std::string> header{"time_ps",  "at_risk",      "departures",
                                    "survival", "survival_err", "at_constant_rate"};
    if (several()) header.insert(header.begin(), "bath_K");
    io::CsvTable csv(path("survival.csv"), std::move(header),
                     info_.provenance +
                         "; fraction of replicas that have lost no molecule since the first check, "
                         "which is the first row (Kaplan-Meier, error by Greenwood); "
                         "at_constant_rate = prediction of the rate in evaporation_rates.csv");
    for (std::size_t b = 0; b < per_bath_.size(); ++b) {
      const Bath& bath = per_bath_[b];
      if (bath.replicas == 0) continue;
      const double per_ps = rate(bath).value * 1e-3;
      const auto row = [&](const SurvivalCurve::Point& point) {
        const double time_ps = info_.time_ps(point.step);
        if (several()) csv.cell(baths_.temperature_K(b).value());
        csv.cells(time_ps, point.at_risk, point.events, point.survival, point.error);
        csv.cell_or_nan(std::exp(-per_ps * (time_ps - info_.time_ps(start_))));
        csv.end_row();
      };
      SurvivalCurve::Point last{start_, bath.replicas, 0, 1.0, 0.0};
      row(last);
      for (const SurvivalCurve::Point& point : bath.curve.points()) {
        if (point.events > 0) row(last = point);
      }
      if (last.step < last_) row({last_, bath.curve.left(), 0, last.survival, last.error});
    }
    csv.write();
  }
  void write_rates() const {
    std::vector<std::string> header;
    if (temperature_K(0)) header.emplace_back("bath_K");
    header.insert(header.end(), {"replicas", "departures", "of_one_molecule", "returns", "time_ns",
                                 "rate_per_ns", "rate_err", "relative_kinetic_kcal_per_mol",
                                 "relative_kinetic_err", "potential_leaving_kcal_per_mol",
                                 "potential_leaving_err", "potential_whole_kcal_per_mol"});
    if (several()) header.emplace_back("arrhenius_rate_per_ns");
    io::CsvTable csv(
        path("evaporation_rates.csv"), std::move(header),
        info_.provenance +
            "; rates at which whole clusters lose their first molecule: departures per total time "
            "of all whole replicas (rate_err without departures: the rate of one); returns = "
            "departed replicas that were whole again later; relative_kinetic, potential_leaving = "
            "means at departure; potential_whole = mean over whole clusters" +
            (several() ? "; arrhenius_rate = exp(log_prefactor - E/kT), maximum likelihood over "
                         "all temperatures"
                       : ""));
    const auto fitted = fit();
    for (std::size_t b = 0; b < per_bath_.size(); ++b) {
      const Bath& bath = per_bath_[b];
      if (const auto bath_K = temperature_K(b)) csv.cell(*bath_K);
      const analysis::MeanError kinetic = bath.kinetic.mean(departures(bath));
      const analysis::MeanError leaving = bath.potential.mean(departures(bath));
      csv.cells(bath.replicas, departures(bath), bath.single, bath.returns, exposure(bath).time);
      csv.cells_or_nan(rate(bath).value, rate(bath).error, kinetic.mean, kinetic.error,
                       leaving.mean, leaving.error,
                       bath.whole_potentials / static_cast<double>(bath.whole_looks));
      if (several()) csv.cell_or_nan(fitted ? fitted->rate(beta(b)) : kNoNumber);
      csv.end_row();
    }
    csv.write();
  }
  bool rate_has_changed() const {
    double more = 0.0, variance = 0.0;
    bool one_has = false;
    for (const Bath& bath : per_bath_) {
      // Find the step that splits the exposure in half. At a constant rate, the number of events
      // before it is binomially distributed.
      const double all = exposure(bath).time;
      const std::int64_t low =
          bisect(
              start_, last_, [&](std::int64_t l, std::int64_t h) { return h - l > section_.every; },
              [&](std::int64_t step) { return exposure(bath, start_, step).time < 0.5 * all; })
              .first;
      const Exposure early = exposure(bath, start_, low), late = exposure(bath, low, last_);
      const auto n = static_cast<double>(early.events + late.events);
      if (n == 0.0 || !(early.time > 0.0) || !(late.time > 0.0)) continue;
      const double share = early.time / (early.time + late.time);
      const double of_bath = static_cast<double>(early.events) - n * share;
      one_has = one_has || std::abs(of_bath) > kSigmas * std::sqrt(n * share * (1.0 - share));
      more += of_bath;
      variance += n * share * (1.0 - share);
    }
    return one_has || std::abs(more) > kSigmas * std::sqrt(variance);
  }

  ObserveEvaporation section_;
  ObserverContext info_;
  Baths baths_;
  std::int64_t start_ = -1, last_ = -1;  // steps of the first and last checks
  std::int64_t parted_ = 0;              // replicas not whole at the first check
  std::vector<Fate> fates_;              // [replica id]
  std::vector<Bath> per_bath_;
  io::CsvWriter csv_;
};

}  // namespace

Observable evaporation_observable() {
  return observable(&Deck::evaporation, construct<EvaporationObserver>,
                    {"survival.csv", "evaporation.*", "evaporation_rates.csv"},
                    "; of the centroids");
}

}  // namespace tarn
