#pragma once

#include "quiet_run.hpp"

/// @file
/// Runs of ring polymers, and comparisons of their averages with numbers of an independent program:
/// plain loops in double precision, with the same scheme, step and friction of the centroids.

namespace tarn::test {

/// @param more keys of [system], each on a line
/// @param frequencies of [path_integral]; the published numbers are for those of Trotter
inline RunResult run_rings(const std::string& model, int molecules, int beads, double temperature_K,
                           double duration_ps, int replicas, const std::string& more = "",
                           const std::string& frequencies = "trotter") {
  const ScratchFolder folder;
  return run_text(
      "[system]\nmodel = \"" + model + "\"\nmolecules = " + std::to_string(molecules) +
          "\nreplicas = " + std::to_string(replicas) + "\n" + more +
          "[integrator]\nscheme = \"verlet\"\n"
          "[thermostat]\nkind = \"baoab\"\nfriction_per_ps = 5.0\ntemperature_K = " +
          std::to_string(temperature_K) + "\n[path_integral]\nbeads = " + std::to_string(beads) +
          "\nfrequencies = \"" + frequencies +
          "\"\n[run]\nequilibration_ps = 1.0\nduration_ps = " + std::to_string(duration_ps) +
          "\n[observe.path_integral]\nevery = 20\nreplicas = \"mean\"\n"
          "[observe.geometry]\nevery = 20\nreplicas = \"mean\"\n",
      folder);
}

/// Expects a mean within 4.5 standard errors of a number that is itself known to `error`.
/// @param largest_error of the mean, so that the comparison has a meaning
inline void expect_mean(const RunResult& result, std::string_view quantity, double expected,
                        double error, double largest_error) {
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != quantity) continue;
    EXPECT_LT(a.error, largest_error) << quantity;
    EXPECT_NEAR(a.mean, expected, 4.5 * std::hypot(a.error, error))
        << quantity << " +- " << a.error;
    return;
  }
  ADD_FAILURE() << quantity << " has no average";
}

}  // namespace tarn::test
