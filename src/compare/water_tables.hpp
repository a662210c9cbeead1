#pragma once

#include <string>

#include "tarn/compare.hpp"

namespace tarn {

/// What the shares of the time of a step contain.
inline constexpr const char* kShareMeanings =
    "Shares of the time. pairs: forces between molecules; bonds: constraints, penalties and "
    "forces\n"
    "of bonds; noise: thermostat, with the steps of the modes of ring polymers; rest: all else.";

/// Writes `compare.csv` of water, one row per scheme. @param provenance text of the first line
void write_water_table(const CompareResult& result, const std::string& provenance);

/// Writes `orders.csv` of water without a thermostat.
void write_energy_orders(const CompareResult& result, const std::string& provenance);

}  // namespace tarn
