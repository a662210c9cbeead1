#include "temperature_warning.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tarn {

std::optional<std::string> temperature_warning(const AveragedQuantity& temperature_K, double bath_K,
                                               const Deck& deck) {
  constexpr double kFew = 16.0;
  const AveragedQuantity& t = temperature_K;
  const double off_K = t.mean - bath_K;
  if (!(t.error > 0.0) || t.independent_samples < kFew) return std::nullopt;
  if (std::abs(off_K) <= 1e-9) return std::nullopt;  // rounding of what is at rest
  if (std::abs(off_K) <= 5.0 * t.error || std::abs(off_K) <= 0.03 * bath_K) return std::nullopt;
  const bool with_start = deck.run.equilibration_ps == 0.0;
  const std::string found =
      fmt::format("the mean temperature is {:.4g} +- {:.2g} K and the bath's {:g} K: ", t.mean,
                  t.error, bath_K);
  if (off_K < 0.0) {
    if (with_start) return std::nullopt;
    return found + "try a longer [run] equilibration_ps, or a shorter timestep_fs";
  }
  if (t.drift < 0.0) {
    return found + "it falls, and the start is not forgotten; try a longer [run] equilibration_ps";
  }
  const std::string step =
      fmt::format("the step of {:g} fs heats; try a shorter timestep_fs or more friction",
                  deck.integrator.timestep_fs);
  if (!with_start) return found + step;
  return found + step + ", and leave a hot start out by [run] equilibration_ps";
}

}  // namespace tarn
