#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tarn/compare.hpp"

namespace tarn {

/// A scheme of a comparison with one time step.
struct Variant {
  std::string label;
  Deck deck;
  std::size_t curve = 0;  ///< number of the scheme, which may have several steps
};

bool has_thermostat(const Deck& deck);

/// One variant per scheme; with CompareOptions::steps the reference, if there is one, and then one
/// variant per scheme and step. The options replace the device and threads of the deck.
/// @throws InputError
std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options);

}  // namespace tarn
