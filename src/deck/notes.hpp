#pragma once

#include <string>
#include <vector>

#include "tarn/deck.hpp"

namespace tarn::decks {

/// What a deck asks for and does not get, without being wrong: observers of more replicas than
/// there are.
std::vector<std::string> notes_on(const Deck& deck);

}  // namespace tarn::decks
