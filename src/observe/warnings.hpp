#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blocking.hpp"
#include "tarn/core/message.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Whether a quantity varies by rounding only; its error and correlation time are then meaningless.
bool is_constant(const AveragedQuantity& a);

/// Warning for quantities whose errors and correlation times are lower bounds, because there are
/// too few independent samples.
std::optional<Message> sampling_warning(const std::vector<AveragedQuantity>& averages);

/// "Run 3.1 times longer": the factor that would give enough changes of structure, if there are
/// any.
std::string run_longer(const StructureChanges& changes);

/// Collects how much results of different start structures differ.
class StartComparison {
 public:
  /// @param name "the mean of quantity" @param bath_K its temperature, if there are several
  /// @param sigmas deviation in standard errors; 0: unknown
  void add(const std::string& name, std::optional<double> bath_K, double sigmas);
  /// A note that the results agree, or a warning that they depend on the start; nothing if no
  /// deviation is known. @param what the results, in the plural
  std::optional<Message> message(const std::string& what) const;

 private:
  int results_ = 0, different_ = 0;
  double most_sigmas_ = 0.0;
  std::string most_;
};

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
