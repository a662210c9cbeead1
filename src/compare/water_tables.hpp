#pragma once

#include <string>

#include "tarn/compare.hpp"

namespace tarn {

/// Writes `compare.csv` of water, one row per scheme. @param provenance text of the first line
void write_water_table(const CompareResult& result, const std::string& provenance);

/// Writes `orders.csv` of water without a thermostat.
void write_energy_orders(const CompareResult& result, const std::string& provenance);

}  // namespace tarn
