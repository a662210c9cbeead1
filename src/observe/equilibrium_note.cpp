#include "equilibrium_note.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tarn {
namespace {

using Rise = analysis::Halves::Rise;

/// How a quantity moved, more than by chance.
struct Drift {
  double mean, sigmas;
  const char* of_which;  ///< of the baths, as the note says it
};

std::optional<Drift> drift_of(std::span<const Rise> of_baths) {
  // By chance in one run of two thousand, of two columns that are looked at in two ways; the second
  // is for the largest of many.
  constexpr double kTogether = 3.8, kOne = 4.5;
  double sigmas = 0.0, rise = 0.0, count = 0.0;
  Rise largest;
  for (const Rise& of_bath : of_baths) {
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
  if (std::abs(mean) < 1e-9) return std::nullopt;  // rounding of what does not move
  return Drift{mean, std::abs(all ? together : largest.sigmas),
               count == 1.0 ? ""
               : all        ? ", in the mean of the baths"
                            : ", of one bath"};
}

}  // namespace

std::optional<std::string> note_on_equilibrium(std::string_view quantity,
                                               std::span<const Rise> from_first_half,
                                               std::span<const Rise> from_beginning) {
  const auto halves = drift_of(from_first_half);
  const auto beginning = drift_of(from_beginning);
  if (!halves && !beginning) return std::nullopt;
  const bool early = !halves || (beginning && beginning->sigmas > halves->sigmas);
  const Drift& drift = early ? *beginning : *halves;
  return fmt::format(
      "{} of the second half of the samples is {:.2g} {} than that of the first{}{}, {:.1f} "
      "standard errors of such a difference: the run was not in equilibrium, or is too short for "
      "its slowest motions; leave out more of its beginning, by a longer [run] equilibration_ps",
      quantity, std::abs(drift.mean), drift.mean > 0.0 ? "higher" : "lower", early ? " eighth" : "",
      drift.of_which, drift.sigmas);
}

}  // namespace tarn
