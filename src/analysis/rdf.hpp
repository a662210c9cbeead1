#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Number of intermolecular pairs of N molecules: N(N-1)/2 OO, and four times as many OH and HH.
/// @return in the order OO, OH, HH
std::array<double, 3> pairs_per_sample(int molecules);

/// Factors from the mean number of pairs of a sample to the mean number of neighbours of an atom in
/// other molecules: oxygens of an oxygen, hydrogens of an oxygen, hydrogens of a hydrogen. Order
/// OO, OH, HH.
std::array<double, 3> neighbours_per_pair(int molecules);

/// Bin centres of `bins` bins of equal width on [0, r_max) [A].
std::vector<double> bin_centres_A(double r_max_A, int bins);

/// Weights from the count of each bin to g, for one sample of one pair, equation (38):
///
///   g = count / (samples * pairs * (r_hi^3 - r_lo^3) / r_max^3)
///
/// A cluster has no volume and no bulk density. The reference is a uniform distribution of the pair
/// vectors in a sphere of radius r_max, for which g = 1.
/// @return r_max^3 / (r_hi^3 - r_lo^3) of each bin, which depends on the number of bins only
std::vector<double> rdf_weights(int bins);

/// g of each bin; zeros without samples or pairs.
std::vector<double> rdf(std::span<const std::uint64_t> counts, double samples, double pairs);

/// Adds the intermolecular distances of one configuration to histograms on [0, r_max).
/// @param positions_A [molecule][9], atoms O H H
/// @param counts [class OO OH HH][bin], each molecule pair once
void count_pairs(std::span<const double> positions_A, double r_max_A, int bins,
                 std::span<std::uint64_t> counts);

/// 4 pi/3 (r_hi^3 - r_lo^3) of each of `bins` shells on [0, r_max) [A^3], equation (38).
std::vector<double> shell_volumes_A3(double r_max_A, int bins);

/// Total variation distance 1/2 sum |p_i - q_i| of two normalised histograms on the same bins,
/// equation (58); between 0 and 1. The distance of an empty histogram from a non-empty one is 1.
/// @throws std::invalid_argument if the numbers of bins differ
double total_variation(std::span<const double> a, std::span<const double> b);

/// Kolmogorov-Smirnov distance of two normalised histograms: the largest difference of the
/// cumulative sums.
/// @throws std::invalid_argument if the numbers of bins differ
double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

}  // namespace tarn::analysis
