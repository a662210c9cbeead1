#pragma once

#include <vector>

#include "schema.hpp"

namespace tarn::decks {

/// The rules of the water model alone.
std::vector<Rule> model_rules();
/// The rules of the other sections but [observe.*], grouped by section.
std::vector<Rule> start_rules();
std::vector<Rule> scheme_rules();
std::vector<Rule> run_rules();

}  // namespace tarn::decks
