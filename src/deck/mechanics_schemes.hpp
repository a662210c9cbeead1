#pragma once

#include <string_view>
#include <vector>

#include "schema.hpp"

/// @file
/// Which schemes integrate which kinds of mechanical systems.

namespace tarn::decks {

/// A kind of mechanical system and the schemes that integrate it.
struct SystemKind {
  std::string_view name;
  std::vector<std::string_view> schemes;
};

const std::vector<SystemKind>& system_kind_table();

/// The choices of `[integrator] scheme` in decks of mechanical systems.
std::vector<Choice> mechanics_schemes();

}  // namespace tarn::decks
