#pragma once

#include <string>
#include <vector>

#include "tarn/compare.hpp"

/// @file
/// Errors of schemes of a mechanical system against step and cost.

namespace tarn {

/// Names of the conserved quantities. A scheme that failed before its first step has none.
std::vector<std::string> conserved_names(const std::vector<MechanicsSchemeResult>& results);

/// The convergence orders of q and of v and the costs per step, by scheme.
std::vector<SchemeOrder> convergence_orders(const std::vector<MechanicsSchemeResult>& results,
                                            const std::vector<std::string>& schemes);

/// "2.00", "2.00?" if fitted to only two points, or "-".
std::string order_text(const analysis::OrderFit& fit);

}  // namespace tarn
