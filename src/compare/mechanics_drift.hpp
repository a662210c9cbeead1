#pragma once

#include <string>
#include <vector>

#include "mechanics_contestant.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// What schemes of a mechanical system keep, as time goes on.

namespace tarn {

/// All changes, a row a scheme and sample.
/// @param path of the table to come, for messages; @param provenance for its first line
std::string drift_table(const std::vector<Drift>& drifts, const std::string& path,
                        const std::string& provenance);

/// Sizes of changes against time on a logarithmic axis: of the energy, of one momentum or Casimir
/// and of the constraints or rotations, as far as all schemes have these and any changes. A curve
/// has at most 100 points, each the largest of its part of the time. Where a scheme has failed, the
/// axis is that of those which have not, if there are any, with a power of ten above.
std::vector<io::Plot> drift_plots(const std::vector<Drift>& drifts);

}  // namespace tarn
