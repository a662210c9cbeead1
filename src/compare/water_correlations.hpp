#pragma once

#include <string>
#include <vector>

#include "observe/correlations.hpp"
#include "tarn/compare.hpp"

/// @file
/// Tables of the time correlation functions of several schemes.

namespace tarn {

/// Time correlation functions of a scheme.
struct LabelledCorrelations {
  std::string label;
  const Correlations* correlations = nullptr;
};

/// Writes correlation.csv, one row per scheme and lag. @throws IoError
void write_correlations(const std::vector<LabelledCorrelations>& all, const std::string& provenance,
                        const std::string& folder);
/// Writes correlation_times.csv, one row per scheme. @throws IoError
void write_correlation_times(const CompareResult& result, const std::string& provenance);
}  // namespace tarn
