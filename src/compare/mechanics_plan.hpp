#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mechanics_reference.hpp"
#include "tarn/compare.hpp"

namespace tarn {

/// A scheme of a mechanical system with one step.
struct MechanicsVariant {
  std::string label;
  Deck deck;
  std::int64_t steps = 0;
  std::int64_t sample_every = 1;
  std::size_t scheme = 0;     ///< index among the schemes
  std::size_t reference = 0;  ///< index in MechanicsPlan::references
};

/// The runs of a comparison of a mechanical system.
struct MechanicsPlan {
  std::vector<MechanicsVariant> variants;
  // With CompareOptions::steps:
  std::vector<MechanicsReference> references;
  bool refines = false;  ///< whether the steps of the references are chosen automatically
  double time = 0.0;
};

/// @throws InputError
MechanicsPlan plan_mechanics(const Deck& deck, const std::vector<std::string>& schemes,
                             const CompareOptions& options);

}  // namespace tarn
