#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Decks as text, and the keys to which their problems belong.

namespace tarn {

/// The text of a deck file. @throws IoError; InputError for a file that is too large
std::string read_deck_text(const std::string& path);
/// The same of another TOML file. @param what it is, for messages
std::string read_toml_text(const std::string& path, const std::string& what);

/// load_deck() of a text: unlike parse_deck(), also reads the structure file or the state.
/// @param path names the deck in messages and is the base of relative paths
/// @throws InputError with every problem found
Deck load_deck_text(const std::string& text, const std::string& path,
                    const std::vector<std::string>& overrides = {},
                    const std::vector<std::string>& removals = {});

/// The "section.key" or "section" of a deck to which a problem belongs: the last one that begins at
/// its place or before, or that of its --set or --unset. Empty if unknown.
/// @param text, path of the deck
std::string key_of(const Problem& problem, const std::string& text, const std::string& path);

/// The part of the message of a problem that says what to do: the suggested name, or the text after
/// the first semicolon; may be empty.
std::string advice_of(const Problem& problem);

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
