#pragma once

#include <string>

#include "tarn/compare.hpp"

namespace tarn {

/// `compare.csv` of water, a row a scheme. @param provenance of its first line
void write_water_table(const CompareResult& result, const std::string& provenance);

/// `orders.csv` of water without a thermostat.
void write_energy_orders(const CompareResult& result, const std::string& provenance);

}  // namespace tarn
