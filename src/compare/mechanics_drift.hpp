#pragma once

#include <string>
#include <vector>

#include "mechanics_scheme_run.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// Drift of the quantities that schemes of a mechanical system conserve.

namespace tarn {

/// Table of all changes, one row per scheme and sample.
/// @param path path of the table, for messages; @param provenance text of the first line
std::string drift_table(const std::vector<Drift>& drifts, const std::string& path,
                        const std::string& provenance);

/// Plots of the absolute changes against time, with a logarithmic axis: of the energy, of one
/// momentum or Casimir, and of one constraint or rotation error, if all schemes have that quantity
/// and it changes. A curve has at most 100 points, each the maximum over its part of the run. If
/// some schemes failed, the axis covers the others and one decade above.
std::vector<io::Plot> drift_plots(const std::vector<Drift>& drifts);

}  // namespace tarn
