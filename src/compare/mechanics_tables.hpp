#pragma once

#include <string>

#include "tarn/compare.hpp"

namespace tarn {

/// Writes `compare.csv` of a mechanical system, one row per scheme.
/// @param by_step with CompareOptions::steps; adds errors and references
/// @param system kind of the system
void write_mechanics_table(const CompareResult& result, bool by_step, const std::string& system);

/// Writes `orders.csv` of a mechanical system.
void write_mechanics_orders(const CompareResult& result, const std::string& system);

/// Text of the first line of a table. @param content of the table
std::string mechanics_provenance(const std::string& system, const char* content);

}  // namespace tarn
