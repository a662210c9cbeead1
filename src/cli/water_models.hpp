#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::cli {

/// The deck that --model names; nothing if it names a built-in model.
/// @throws InputError if the deck describes a mechanical system
std::optional<Deck> deck_of_model(const std::string& name);

/// The built-in model of that name, or the model of the deck with that path.
/// @throws InputError that lists all models
WaterModel water_model_named(const std::string& name);

}  // namespace tarn::cli
