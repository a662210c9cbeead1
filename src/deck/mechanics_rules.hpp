#pragma once

#include <vector>

#include "schema.hpp"

namespace tarn::decks {

/// The rules of decks of mechanical systems.
std::vector<Rule> mechanics_rules();

/// Sets the defaults of mechanical decks that depend on other keys.
void fill_mechanics_defaults(Checker& checker);

}  // namespace tarn::decks
