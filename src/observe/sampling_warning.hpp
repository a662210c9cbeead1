#pragma once

#include <optional>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Whether a quantity varies by rounding only; its error and correlation time are then meaningless.
bool is_constant(const AveragedQuantity& a);

/// Warning for quantities whose errors and correlation times are lower bounds, because there are
/// too few independent samples.
std::optional<Message> sampling_warning(const std::vector<AveragedQuantity>& averages);

}  // namespace tarn
