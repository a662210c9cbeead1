#pragma once

#include <span>

namespace tarn::analysis {

/// Mean and standard error of independent numbers.
struct MeanError {
  double mean = 0.0;
  double error = 0.0;  ///< 0 when there are fewer than two numbers: not known
};

/// Mean and standard error s / sqrt(n), for independent numbers.
MeanError mean_and_error(std::span<const double> values);

/// Ratio sum(counts) / sum(samples) over independent groups that may differ in size, with the
/// standard error of a ratio estimator (Cochran, Sampling Techniques, 3rd ed., eq. 6.12):
///   err^2 = G/(G-1) sum_g (n_g - R s_g)^2 / (sum_g s_g)^2.
/// Blocking has the same, equation (30). Groups without samples are left out.
MeanError ratio_and_error(std::span<const double> counts, std::span<const double> samples);

/// A normal number that is as rare as this one of Student's t distribution, nearly (Wallace 1959):
/// equation (65).
double normal_of_t(double t, double degrees_of_freedom);

/// Decimals of a number that tell two digits of its error, "-57.553 ± 0.032"; 3 if that is 0 or not
/// finite.
int decimals_for(double error);

}  // namespace tarn::analysis
