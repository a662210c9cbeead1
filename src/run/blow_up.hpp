#pragma once

#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Step, replica, molecule, likely cause and cure, in one sentence or two.
std::string describe(const BlowUp& blow_up, const Deck& deck);

/// Those of two lists, in order of replica.
std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later);

}  // namespace tarn
