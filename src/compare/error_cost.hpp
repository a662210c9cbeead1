#pragma once

#include <string>

#include "scheme_run.hpp"
#include "tarn/analysis/errors.hpp"

/// @file
/// Errors of schemes against their cost.

namespace tarn {

/// The deck with a scheme, as in `--schemes`, and a step. The run has the same length, and samples
/// energies, distances and correlations at the same times or the nearest multiples of its step.
/// @throws InputError
Deck with_scheme_and_step(const Deck& deck, const std::string& scheme, double timestep_fs);

/// Sets the sampling interval of correlations in a variant with another step to that of `deck`, or
/// the nearest multiple of the step.
void match_correlation_interval(const Deck& deck, Deck& variant);

/// Total variation distance of two histograms, with its jackknife error over the groups of replicas
/// of both. The distance is never negative; for equal distributions it is total_variation_noise().
/// Differences below about twice the noise are not detectable, independent of the error. The error
/// is NaN for a single group.
analysis::MeanError total_variation_and_error(const DistanceHistogram& histogram,
                                              const DistanceHistogram& reference);

/// Expected total variation distance of equal distributions: the mean of half the sum of |p - q| if
/// the bins differ by Gaussian noise only. NaN if the errors of the bins are unknown.
/// @param width_A bin width
double total_variation_noise(const DistanceHistogram& a, const DistanceHistogram& b,
                             double width_A);

/// The errors of a scheme: the difference of <V0> from that of the reference [kcal/mol], or the
/// total variation distance of the OO histogram.
enum class ErrorMeasure { potential, distance };

/// The factor on the length of the runs that reduces the noise of an error to half of a limit; 1 if
/// the error is below the limit, or above it, by more than the noise, or if the noise is less than
/// half of the limit. Infinity for unknown noise.
double times_longer_to_resolve(const SchemeResult& scheme, ErrorMeasure measure, double limit);

/// Whether the costs differ by at most twice the error of the difference.
bool costs_agree_within_errors(const SchemeResult& faster, const SchemeResult& slower);

/// Whether no replica was lost and the error plus twice its uncertainty is below a limit.
bool is_error_below(const SchemeResult& scheme, ErrorMeasure measure, double limit);

}  // namespace tarn
