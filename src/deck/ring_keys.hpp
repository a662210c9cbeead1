#pragma once

#include <string>
#include <vector>

#include "tarn/deck.hpp"

/// @file
/// Ring polymers of decks.

namespace tarn {

/// Number of beads of each replica; 1: classical.
int beads_of(const Deck& deck);

/// The section in the units of engines.
PathIntegralSpec ring_spec(const PathIntegralSection& rings);

/// Temperatures of the springs of ring polymers; empty without [path_integral].
std::vector<double> ring_temperatures_K(const Deck& deck);

/// The deck with a number of beads, a flow of the free ring ("cayley", "exact") or a kind of
/// frequencies ("economised", "trotter"), as given to `--beads`, `--free-ring` and `--frequencies`.
/// @throws InputError that names the option
Deck with_beads(const Deck& deck, int beads);
Deck with_free_ring(const Deck& deck, const std::string& free_ring);
Deck with_frequencies(const Deck& deck, const std::string& frequencies);

}  // namespace tarn
