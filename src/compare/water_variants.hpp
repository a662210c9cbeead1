#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tarn/compare.hpp"

namespace tarn {

/// A scheme of those that are compared.
struct Variant {
  std::string label;
  Deck deck;
  std::size_t curve = 0;  // number of its scheme, where one has several steps
};

bool has_bath(const Deck& deck);

/// The deck once for each scheme, or for each scheme with each step and the reference before them,
/// with what the options replace.
/// @throws InputError
std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options);

}  // namespace tarn
