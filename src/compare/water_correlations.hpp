#pragma once

#include <string>
#include <vector>

#include "observe/correlations.hpp"
#include "tarn/compare.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// Time correlation functions of several schemes, side by side.

namespace tarn {

/// Those of a scheme that have rows.
struct LabelledCorrelations {
  std::string label;
  const Correlations* correlations = nullptr;
  bool is_drawn = true;
};

/// correlation.csv: scheme after scheme, each with a row a lag. @throws IoError
void write_correlations(const std::vector<LabelledCorrelations>& all, const std::string& provenance,
                        const std::string& folder);
/// correlation_times.csv: a row a scheme. @throws IoError
void write_correlation_times(const CompareResult& result, const std::string& provenance);
/// correlation.svg and .png, from correlation.csv: curves of the schemes that are drawn.
io::Drawing draw_correlations(const std::vector<LabelledCorrelations>& all,
                              const std::string& title, const std::string& folder);

}  // namespace tarn
