#pragma once

#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"

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

}  // namespace tarn
