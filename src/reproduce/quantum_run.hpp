#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/errors.hpp"
#include "tarn/reproduce.hpp"
#include "tarn/run.hpp"

/// @file
/// Runs of the pages about ring polymers.

namespace tarn {

/// The temperatures of a page; in shortened runs only the highest one, which needs the fewest
/// beads.
std::vector<double> page_temperatures(std::vector<double> temperatures_K,
                                      const ReproduceOptions& options);
/// Number of beads for which P T has this value, rounded.
int beads_for(double beads_times_K, double temperature_K);
/// `key=value` settings of the temperature and the number of beads.
std::vector<std::string> ring_overrides(double temperature_K, int beads);

/// Runs the deck of a page with its overrides and these, in a temporary folder.
/// @param observers in addition to those of the deck
RunResult run_quantum(const Reproduction& r, const ReproduceOptions& options,
                      const std::vector<std::string>& overrides,
                      const std::vector<std::string>& removals,
                      const std::vector<ObserverMaker>& observers);

/// An average by the name of its column. @throws std::logic_error if there is none
analysis::MeanError average_of(const std::vector<AveragedQuantity>& averages,
                               std::string_view column);

}  // namespace tarn
