#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn {

/// The deck (`*.toml`) that the name of a water model stands for; nothing if it is a built-in
/// model. Only what defines the model is read: [model], and the model and masses of [system].
/// @throws InputError if the deck names no water model
std::optional<Deck> deck_of_model(const std::string& name);

/// The built-in model of that name, or the model of the deck with that path (`*.toml`).
/// @throws InputError that lists all models
WaterModel water_model_named(const std::string& name);

/// The model of a deck as text, as above. @param name of the deck in messages
WaterModel water_model_of_text(const std::string& text, const std::string& name);

/// Replaces the masses of a model by those given, in the ranges of the keys of a deck.
/// @throws InputError
void set_masses(std::optional<double> hydrogen_mass_Da, std::optional<double> oxygen_mass_Da,
                WaterModel& model);

}  // namespace tarn
