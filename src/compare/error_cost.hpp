#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contestant.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// What schemes get wrong beside what they cost.

namespace tarn {

/// The deck with a scheme, as in `--schemes`, and a step: it runs for the same time and looks at
/// energies, distances and correlations at the same times, as far as its step allows.
/// @throws InputError
Deck with_scheme_and_step(const Deck& deck, const std::string& scheme, double timestep_fs);

/// Gives a deck with another step correlations whose samples are as far apart in time as those of
/// `deck`, as far as its step allows.
void correlate_as_often(const Deck& deck, Deck& own);

/// Total variation of two histograms; its error by leaving out one group of replicas of the one and
/// of the other after the other (jackknife). It is never negative, and of equal distributions it is
/// noise_of_total_variation(): below some twice that nothing is seen, whatever the error. The error
/// of a single group is not known: NaN.
analysis::MeanError total_variation_of(const Distances& own, const Distances& reference);

/// The total variation that would be seen without any difference: the mean of half the sum of
/// |p - q| when the bins differ by Gaussian noise only; NaN where the errors of the bins are not
/// known. @param width_A of a bin
double noise_of_total_variation(const Distances& a, const Distances& b, double width_A);

/// A scheme with a step, against a reference.
struct CostPoint {
  std::size_t curve = 0;
  double timestep_fs = 0.0;
  double us_per_ps = 0.0;         ///< time for a picosecond of one cluster
  analysis::MeanError potential;  ///< difference of the means [kcal/mol]
  analysis::MeanError distance;   ///< total variation of the OO histograms
  double distance_of_noise = 0.0;
  bool survived = true;        ///< false: a replica was lost, and it is not drawn
  double us_per_ps_err = 0.0;  ///< standard error; NaN: not known
};

struct CostCurve {
  std::string label;
  std::string colour{};  ///< empty: by its place
  bool dashed = false;
  bool marked = true;  ///< with the step beside each point
};

enum class CostOf { potential, distance };

/// Errors against cost, a curve a scheme, and the noise below which no error can be seen. Errors
/// below half of it are drawn there, in grey. Without curves where no scheme has an error, as of
/// the energy of a single molecule.
io::Plot error_cost_plot(const std::vector<CostPoint>& points, const std::vector<CostCurve>& curves,
                         CostOf what);

/// Whether what takes longer does so by no more than twice the error of the difference.
bool as_fast_within_errors(const CostPoint& faster, const CostPoint& slower);

/// Whether the error and twice its own uncertainty lie below that.
bool is_within(const CostPoint& point, CostOf what, double most);

}  // namespace tarn
