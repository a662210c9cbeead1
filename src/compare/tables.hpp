#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheme_run.hpp"
#include "tarn/compare.hpp"

/// @file
/// The tables of a comparison, and its record. The functions throw IoError.

namespace tarn {

/// What the shares of the time of a step contain.
inline constexpr const char* kShareMeanings =
    "Shares of the time. pairs: forces between molecules; bonds: constraints, penalties and "
    "forces\n"
    "of bonds; noise: thermostat, with the steps of the modes of ring polymers; rest: all else.";

/// Writes `compare.csv`, one row per scheme. @param provenance text of the first line
void write_scheme_table(const CompareResult& result, const std::string& provenance);

/// Writes `orders.csv` of a comparison without a thermostat.
void write_energy_orders(const CompareResult& result, const std::string& provenance);

/// Writes `rdf.csv`, one row per bin and one group of columns per scheme and pair class.
void write_distances(const std::vector<SchemeRun>& runs, const std::string& provenance,
                     const std::string& folder);

/// Writes `correlation.csv`, one row per scheme and lag.
void write_correlations(const std::vector<const SchemeRun*>& runs, const std::string& provenance,
                        const std::string& folder);

/// Writes `correlation_times.csv`, one row per scheme.
void write_correlation_times(const CompareResult& result, const std::string& provenance);

/// Writes `beads.csv`, one row per scheme.
void write_beads(const CompareResult& result, const std::string& provenance);

/// Writes `bead_limits.csv`.
void write_bead_limits(const CompareResult& result, const std::string& provenance);

/// Writes `compare.json`: the deck, the schemes, the options and the status of a comparison.
/// @param status "running", "finished", "interrupted" or "failed"
/// @param error reason of a failure
void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error = {});

}  // namespace tarn
