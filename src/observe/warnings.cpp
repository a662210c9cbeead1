#include "warnings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text.hpp"

namespace tarn {

bool is_constant(const AveragedQuantity& a) { return a.error <= 1e-12 * std::abs(a.mean); }

std::optional<Message> sampling_warning(const std::vector<AveragedQuantity>& averages) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const AveragedQuantity& a : averages) {
    if (a.converged || is_constant(a)) continue;
    if (std::find(names.begin(), names.end(), a.quantity) == names.end()) {
      names.push_back(a.quantity);
    }
  }
  if (names.empty()) return std::nullopt;
  const std::size_t more = names.size() > kMostNamed + 1 ? names.size() - kMostNamed : 0;
  names.resize(names.size() - more);
  return Message::warning(fmt::format(
      "too few independent samples of {}{}: errors and correlation times may be too small. Run "
      "longer",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

std::string run_longer(const StructureChanges& changes) {
  if (!(changes.per_walker > 0.0)) return "Run longer";
  return fmt::format("Run {} times longer",
                     rounded_up(StructureChanges::kEnough / changes.per_walker));
}

void StartComparison::add(const std::string& name, std::optional<double> bath_K, double sigmas) {
  if (sigmas == 0.0) return;
  ++results_;
  different_ += sigmas > AveragedQuantity::kMostSigmasBetweenStarts ? 1 : 0;
  if (sigmas <= most_sigmas_) return;
  most_sigmas_ = sigmas;
  most_ = name + (bath_K ? fmt::format(" at {:g} K", *bath_K) : "");
}

std::optional<Message> StartComparison::message(const std::string& what) const {
  if (results_ == 0) return std::nullopt;
  const std::string largest = fmt::format("{}, by {:.1f} standard errors", most_, most_sigmas_);
  // One of many results differs by three standard errors by chance.
  constexpr double kByChance = 0.01;
  if (std::erfc(most_sigmas_ / std::sqrt(2.0)) * results_ > kByChance) {
    return Message::note(
        fmt::format("{} {} from different starts agree; the largest difference is that of {}",
                    results_, what, largest));
  }
  return Message::warning(fmt::format(
      "{} of {} {} depend on the start by more than {:g} standard errors, most of all {}. They are "
      "not converged; run longer",
      different_, results_, what, AveragedQuantity::kMostSigmasBetweenStarts, largest));
}

namespace {

using Shift = analysis::Halves::Shift;

std::optional<EquilibriumDrift> significant_drift(const std::vector<Shift>& per_bath, bool early) {
  // Thresholds for a false positive in one run of two thousand, with eight columns or populations
  // and two tests each; the second applies to the largest of many baths.
  constexpr double kTogether = 4.2, kOne = 4.8;
  double sigmas = 0.0, rise = 0.0, count = 0.0;
  Shift largest;
  for (const Shift& of_bath : per_bath) {
    if (of_bath.sigmas == 0.0) continue;
    sigmas += of_bath.sigmas;
    rise += of_bath.mean;
    count += 1.0;
    if (std::abs(of_bath.sigmas) > std::abs(largest.sigmas)) largest = of_bath;
  }
  if (count == 0.0) return std::nullopt;
  const double together = sigmas / std::sqrt(count);
  const bool all = std::abs(together) > kTogether;
  if (!all && std::abs(largest.sigmas) <= kOne) return std::nullopt;
  const double mean = all ? rise / count : largest.mean;
  if (std::abs(mean) < 1e-9) return std::nullopt;  // rounding errors of a constant
  EquilibriumDrift drift{mean,
                         std::abs(all ? together : largest.sigmas),
                         count == 1.0 ? ""
                         : all        ? ", averaged over the temperatures"
                                      : ", at one temperature",
                         early,
                         {}};
  for (const Shift& of_bath : per_bath) {
    drift.per_bath.push_back(all || std::abs(of_bath.sigmas) > kOne ? of_bath.mean : 0.0);
  }
  return drift;
}

}  // namespace

void BathShifts::add(const analysis::Halves& halves, double error) {
  from_first_half.push_back(halves.shift(error));
  from_beginning.push_back(halves.shift_from_start());
}

std::optional<EquilibriumDrift> drift_of(const BathShifts& shifts) {
  const auto halves = significant_drift(shifts.from_first_half, false);
  const auto beginning = significant_drift(shifts.from_beginning, true);
  if (!halves || !beginning) return halves ? halves : beginning;
  return beginning->sigmas > halves->sigmas ? beginning : halves;
}

std::optional<Message> equilibration_warning(std::string_view quantity, const BathShifts& shifts) {
  const auto drift = drift_of(shifts);
  if (!drift) return std::nullopt;
  return Message::warning(fmt::format(
      "not equilibrated. {} {} by {:.2g} ({:.1f} standard errors) between {} of the run{}; "
      "increase [run] equilibration_ps",
      quantity, drift->mean > 0.0 ? "rose" : "fell", std::abs(drift->mean), drift->sigmas,
      drift->early ? "the first eighth and the second half" : "the two halves", drift->scope));
}

}  // namespace tarn
