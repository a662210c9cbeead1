#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"

namespace tarn::fuzz {

/// A deck of any bytes is refused in words, or is good, and is then the same deck when what it is
/// resolved to is read again.
inline void deck(std::string_view bytes) {
  Deck deck;
  try {
    deck = parse_deck(std::string(bytes), "fuzz.toml");
  } catch (const InputError&) {
    return;
  }
  const std::string text = resolved_deck(deck);
  if (resolved_deck(parse_deck(text, "fuzz.toml")) != text) std::abort();
  physics_fingerprint(deck);
  if (deck.system.molecules > 0) make_system(deck, deck.system.molecules);
}

}  // namespace tarn::fuzz
