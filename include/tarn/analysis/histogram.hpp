#pragma once

#include <span>

namespace tarn::analysis {

/// Total variation distance 1/2 sum |p_i - q_i| of two normalised histograms on the same bins,
/// equation (58); between 0 and 1. The distance of an empty histogram from a non-empty one is 1.
/// @throws std::invalid_argument if the numbers of bins differ
double total_variation(std::span<const double> a, std::span<const double> b);

/// Kolmogorov-Smirnov distance of two normalised histograms: the largest difference of the
/// cumulative sums.
/// @throws std::invalid_argument if the numbers of bins differ
double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

}  // namespace tarn::analysis
