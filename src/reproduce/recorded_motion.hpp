#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "result_page.hpp"
#include "run/mechanics_experiment.hpp"
#include "tarn/mechanics/diagnostics.hpp"

namespace tarn {

/// A run of a mechanical deck, in memory.
struct RecordedMotion {
  std::string label;
  mechanics::Experiment setup;
  std::vector<double> times;
  std::vector<mechanics::State> states;
  mechanics::Costs costs;
  double seconds = 0.0;  ///< core time of the shortest of the repeats

  /// One coordinate at all times.
  mechanics::Vector coordinate(mechanics::Index i) const;
};

/// @param every steps between two states @param repeats of the run, for its time
RecordedMotion record_motion(const Deck& deck, const std::string& label, std::int64_t every,
                             int repeats = 20);

/// The deck with a scheme and its step multiplied by a factor, over the same time.
Deck with_scaled_step(const Deck& deck, const std::string& scheme, double factor);

/// A curve of values over x.
io::Series curve_of(std::string label, const std::vector<double>& x, const mechanics::Vector& y);

/// Run times of the paper [s], by scheme; "zs" is among them.
using PaperSeconds = std::map<std::string_view, double>;

/// Columns of the costs of a method: steps, solves, iterations and times relative to Z&S.
MarkdownTable::Cells with_cost_columns(MarkdownTable::Cells cells);
/// @param seconds and @param zs_seconds core times of the run and of that of Z&S
MarkdownTable::Cells with_costs(MarkdownTable::Cells cells, std::string_view scheme,
                                const mechanics::Costs& costs, double seconds, double zs_seconds,
                                const PaperSeconds& paper);
/// Explains the times in these columns.
inline constexpr const char* kCostsMethod =
    "Relative time is the core time of the whole run, divided by that of Z&S in the same process. "
    "The times of the paper are divided by its own time of Z&S.";

}  // namespace tarn
