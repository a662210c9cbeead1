#pragma once

#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/json.hpp"

namespace tarn {

/// "replica 1 blew up at step 55 (molecule 1)".
std::string headline(const BlowUp& blow_up);

/// Step, replica, molecule, closest atoms, largest force, likely cause and cure, in a few
/// sentences.
std::string describe(const BlowUp& blow_up, const Deck& deck);

/// The same for programs: numbers and the text of describe().
io::JsonObject json_of(const BlowUp& blow_up, const Deck& deck);

/// Those of two lists, in order of replica.
std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later);

}  // namespace tarn
