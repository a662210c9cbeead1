#pragma once

#include <string>
#include <vector>

#include "mechanics_plan.hpp"
#include "tarn/compare.hpp"

namespace tarn {

/// Runs the comparison of a mechanical system. @param result with out_dir, which must exist
void compare_mechanics(MechanicsPlan plan, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result);

}  // namespace tarn
