#pragma once

#include <string>
#include <vector>

#include "mechanics_scheme_run.hpp"

/// @file
/// Drift of the quantities that schemes of a mechanical system conserve.

namespace tarn {

/// Table of all changes, one row per scheme and sample.
/// @param path path of the table, for messages; @param provenance text of the first line
std::string drift_table(const std::vector<Drift>& drifts, const std::string& path,
                        const std::string& provenance);

}  // namespace tarn
