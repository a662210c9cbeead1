#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// What to tell of a mean temperature that is not its bath's: more than 3 % and five standard
/// errors off. Colder means count only where the start was left out; of hotter ones that fall while
/// the run lasts the start is blamed, and of others the step.
std::optional<std::string> temperature_warning(const AveragedQuantity& temperature_K, double bath_K,
                                               const Deck& deck);

/// What to tell of a bath that rigid molecules have no exact step of: the friction differs between
/// atoms, and their temperature is lower by more than half a percent; equation (21).
std::optional<std::string> friction_warning(const System& system);

}  // namespace tarn
