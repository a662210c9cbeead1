#pragma once

#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// What schemes of a mechanical system get wrong by step and by cost.

namespace tarn {

/// Names of the conserved quantities that the results have changes of; one that failed before its
/// first step has none.
std::vector<std::string> conserved_names(const std::vector<MechanicsSchemeResult>& results);

/// The orders of q and of v, scheme by scheme, with what a step costs.
std::vector<SchemeOrder> orders_of(const std::vector<MechanicsSchemeResult>& results,
                                   const std::vector<std::string>& schemes);

/// "#rrggbb" of a scheme by its place, for more of them than the palette has.
std::string colour_of_curve(std::size_t curve);

/// "2.00", "2.00?" where only two points tell it, or "-".
std::string order_text(const analysis::OrderFit& fit);

/// The largest error of q against step, with orders in the legend, against time and, where schemes
/// evaluate a force, against the number of times; the error of the reference as bars, and as a line
/// where it matters. Errors that it may have spoiled are grey.
/// @param dashed by scheme
std::vector<io::Plot> error_plots(const std::vector<MechanicsSchemeResult>& results,
                                  const std::vector<std::string>& schemes,
                                  const std::vector<SchemeOrder>& orders,
                                  const std::vector<bool>& dashed);

}  // namespace tarn
