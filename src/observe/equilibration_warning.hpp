#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/halves.hpp"

namespace tarn {

/// How a quantity whose mean does not move in equilibrium did, by more than chance: in the mean of
/// the baths, or in one of them.
struct EquilibriumDrift {
  double mean, sigmas;
  const char* scope;             ///< of the baths, as the note says it
  bool early = false;            ///< from the first eighth, and not from the first half
  std::vector<double> per_bath;  ///< 0 where it is not clear of the bath, nor of all together
};
/// How it rose in each bath, from the first half and from the first eighth.
struct BathShifts {
  std::vector<analysis::Halves::Shift> from_first_half, from_beginning;

  /// The next bath. @param error of the mean of all of its samples
  void add(const analysis::Halves& halves, double error);
};
/// The clearer one of both, if there is one.
std::optional<EquilibriumDrift> drift_of(const BathShifts& shifts);
/// What to tell of it.
std::optional<std::string> equilibration_warning(std::string_view quantity,
                                                 const BathShifts& shifts);

}  // namespace tarn
