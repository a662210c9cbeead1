#include "equilibration_warning.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tarn {
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
