#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mechanics_reference.hpp"
#include "tarn/analysis/convergence.hpp"
#include "tarn/compare.hpp"

namespace tarn {

/// A scheme of a mechanical system, to be compared.
struct MechanicsVariant {
  std::string label;
  Deck deck;
  std::int64_t steps = 0;
  std::int64_t look_every = 1;
  std::size_t scheme = 0;     ///< by its place among the schemes
  std::size_t reference = 0;  ///< by its place among MechanicsPlan::references
};

/// What is to be run.
struct MechanicsPlan {
  std::vector<MechanicsVariant> variants;
  // With steps of CompareOptions:
  std::vector<MechanicsReference> references;
  bool refines = false;  ///< the references have no step of their own
  double time = 0.0;
};

/// @throws InputError
MechanicsPlan plan_mechanics(const Deck& deck, const std::vector<std::string>& schemes,
                             const CompareOptions& options);

/// compare_schemes() of a mechanical system. @param result has the folder, which exists
void compare_mechanics(MechanicsPlan plan, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result);

}  // namespace tarn
