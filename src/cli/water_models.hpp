#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::cli {

/// What the help says of --model, before its default.
inline constexpr const char* kModelHelp = "water model, or a deck that has one of its own";

/// Whether --model names a deck, and that. @throws InputError if it is none of water
std::optional<Deck> deck_of_model(const std::string& name);

/// The model of that name, or of the deck of that name. @throws InputError that names all models
WaterModel water_model_named(const std::string& name);

}  // namespace tarn::cli
