#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/json.hpp"

namespace tarn {

/// "replica 1 blew up at step 55 (molecule 1)".
std::string headline(const BlowUp& blow_up);

/// Step, replica, molecule, closest atoms, largest force, likely cause and cure, in a few
/// sentences.
/// @param indefinite_hessians of all replicas; each stops its own
/// @param molecules of a replica
std::string describe(const BlowUp& blow_up, const Deck& deck, std::int64_t indefinite_hessians,
                     int molecules);

/// Adds the same for programs: numbers, and the text of describe().
void add_to(io::JsonObject& object, const BlowUp& blow_up, std::string_view text);

/// Those of two lists, in order of replica.
std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later);

}  // namespace tarn
