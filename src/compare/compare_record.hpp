#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tarn/compare.hpp"

namespace tarn {

/// Writes `compare.json`: the deck, the schemes, the options and the status of a comparison.
/// @param status "running", "finished", "interrupted" or "failed"
/// @param error reason of a failure
void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error = {});

}  // namespace tarn
