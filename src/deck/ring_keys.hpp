#pragma once

#include <string>

#include "tarn/deck.hpp"

/// @file
/// Ring polymers of decks.

namespace tarn {

/// Number of beads of each replica; 1: classical.
int beads_of(const Deck& deck);

/// The deck with a number of beads or a flow of the free ring ("cayley", "exact"), as given to
/// `--beads` and `--free-ring`.
/// @throws InputError that names the option
Deck with_beads(const Deck& deck, int beads);
Deck with_free_ring(const Deck& deck, const std::string& free_ring);

}  // namespace tarn
