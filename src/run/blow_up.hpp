#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// "replica 1 blew up at step 55 (molecule 1)".
std::string headline(const BlowUp& blow_up);

/// Full message: step, replica, molecule, closest atoms, largest force, likely cause and remedy.
/// @param indefinite_hessians number of indefinite Hessians in all replicas; each stops its replica
/// @param molecules number of molecules per replica
std::string describe(const BlowUp& blow_up, const Deck& deck, std::int64_t indefinite_hessians,
                     int molecules);

/// Adds the same information in JSON: numbers, and the text of describe().
void add_to(io::JsonObject& object, const BlowUp& blow_up, std::string_view text);

/// Merges two lists, sorted by replica.
std::vector<BlowUp> merged(const std::vector<BlowUp>& earlier, const std::vector<BlowUp>& later);

}  // namespace tarn
