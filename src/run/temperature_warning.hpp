#pragma once

#include <optional>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Warning for a mean temperature that differs from the bath by more than 3 % and five standard
/// errors. If averages include the start, a lower mean causes a warning only beyond 20 %. A higher
/// mean is attributed to the start if it falls during the run, and otherwise to the time step.
/// Without a thermostat: a note beyond 20 % of the temperature of the initial velocities, `bath_K`.
std::optional<Message> temperature_warning(const AveragedQuantity& temperature_K, double bath_K,
                                           const Deck& deck);

/// Warning for a thermostat whose step is not exact for rigid molecules, because the friction
/// differs between atoms: their temperature is more than half a percent too low; equation (21).
std::optional<Message> friction_warning(const System& system);

}  // namespace tarn
