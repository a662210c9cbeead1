#pragma once

#include <string>

namespace tarn::decks {

/// Contents of `trajectory.csv` for each kind of mechanical system, as a table for the reference.
std::string trajectory_columns_table();

}  // namespace tarn::decks
