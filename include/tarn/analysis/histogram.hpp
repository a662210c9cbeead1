#pragma once

#include <span>

namespace tarn::analysis {

/// Total variation distance 1/2 sum |p_i - q_i| of two histograms on the same bins, each brought
/// to sum 1, equation (58); between 0 and 1. An empty histogram is at distance 1 from any that is
/// not.
/// @throws std::invalid_argument when the numbers of bins differ
double total_variation(std::span<const double> a, std::span<const double> b);

/// Kolmogorov-Smirnov distance of the same two: the largest difference of the cumulative sums.
/// @throws std::invalid_argument when the numbers of bins differ
double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

}  // namespace tarn::analysis
