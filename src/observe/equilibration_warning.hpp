#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/halves.hpp"
#include "tarn/core/message.hpp"

namespace tarn {

/// Significant drift of a quantity that is stationary in equilibrium, averaged over the
/// temperatures or in one of them.
struct EquilibriumDrift {
  double mean, sigmas;
  const char* scope;             ///< affected baths, for the message
  bool early = false;            ///< relative to the first eighth instead of the first half
  std::vector<double> per_bath;  ///< [bath]; 0 if not significant
};
/// Shifts of the mean in each bath to the second half, from the first half and the first eighth.
struct BathShifts {
  std::vector<analysis::Halves::Shift> from_first_half, from_beginning;

  /// Adds the next bath. @param error standard error of the mean of all its samples
  void add(const analysis::Halves& halves, double error);
};
/// The more significant drift of both tests, if any.
std::optional<EquilibriumDrift> drift_of(const BathShifts& shifts);
/// Warning for a significant drift.
std::optional<Message> equilibration_warning(std::string_view quantity, const BathShifts& shifts);

}  // namespace tarn
