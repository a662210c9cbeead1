#pragma once

#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// Errors of schemes of a mechanical system against step and cost.

namespace tarn {

/// Names of the conserved quantities. A scheme that failed before its first step has none.
std::vector<std::string> conserved_names(const std::vector<MechanicsSchemeResult>& results);

/// The convergence orders of q and of v and the costs per step, by scheme.
std::vector<SchemeOrder> convergence_orders(const std::vector<MechanicsSchemeResult>& results,
                                            const std::vector<std::string>& schemes);

/// "#rrggbb" of a curve; has more colours than the palette of pictures.
std::string curve_colour(std::size_t curve);

/// "2.00", "2.00?" if fitted to only two points, or "-".
std::string order_text(const analysis::OrderFit& fit);

/// Plots of the largest error of q against step, with orders in the legend, against time and, if
/// schemes evaluate a force, against the number of evaluations. The error of the reference is drawn
/// as error bars, and as a line if it is significant. Errors that it dominates are grey.
/// @param dashed by scheme
std::vector<io::Plot> error_plots(const std::vector<MechanicsSchemeResult>& results,
                                  const std::vector<std::string>& schemes,
                                  const std::vector<SchemeOrder>& orders,
                                  const std::vector<bool>& dashed);

}  // namespace tarn
