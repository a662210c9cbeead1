#pragma once

#include <span>

namespace tarn::analysis {

/// Mean and standard error of independent numbers.
struct MeanError {
  double mean = 0.0;
  double error = 0.0;  ///< 0, unknown, for fewer than two numbers
};

/// Mean and standard error s / sqrt(n), for independent numbers.
MeanError mean_and_error(std::span<const double> values);

/// Sums over independent numbers x, relative to a pivot p that is close to them.
struct Moments {
  double count = 0.0, pivot = 0.0;
  double sum = 0.0;     ///< of x - p
  double square = 0.0;  ///< of (x - p)^2

  /// Adds other numbers.
  void add(const Moments& other);
  double mean() const { return pivot + sum / count; }
  /// Sum of x - about.
  double sum_about(double about) const { return sum + count * (pivot - about); }
};
/// The same from sums.
MeanError mean_and_error(const Moments& moments);

/// Ratio sum(counts) / sum(samples) over independent groups that may differ in size, with the
/// standard error of a ratio estimator (Cochran, Sampling Techniques, 3rd ed., eq. 6.12):
///   err^2 = G/(G-1) sum_g (n_g - R s_g)^2 / (sum_g s_g)^2.
/// Blocking uses the same estimator, equation (30). Groups without samples are ignored.
MeanError ratio_and_error(std::span<const double> counts, std::span<const double> samples);

/// The normal deviate with the same probability as Student's t, approximately (Wallace 1959),
/// equation (65).
double normal_of_t(double t, double degrees_of_freedom);

/// Decimals that show two digits of an error, "-57.553 ± 0.032"; 3 if the error is 0 or not finite.
int decimals_for(double error);

}  // namespace tarn::analysis
