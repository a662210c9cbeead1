#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "error_cost.hpp"
#include "scheme_run.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/compare.hpp"

/// @file
/// Results of the schemes of a water comparison.

namespace tarn {

/// The run of a variant with its cost and distance histograms.
struct ComparedRun {
  SchemeRun run;
  std::size_t curve = 0;               ///< number of the scheme, which may have several steps
  double wall_seconds = 0.0;           ///< of stepping
  analysis::PooledBlocking us_per_ps;  ///< one value per slice, weighted by its simulated time
  std::array<DistanceHistogram, kPairClasses> histograms;  ///< set by take_histograms()

  /// Advances the run and records its cost.
  void advance_to(std::int64_t step);
  /// Takes the distance histograms from the engine.
  void take_histograms();
};

/// The results of a run. @param first the run that it is compared with; may be the run itself
SchemeResult scheme_result(const ComparedRun& compared, const ComparedRun& first);

CostPoint cost_point(const SchemeResult& result);

}  // namespace tarn
