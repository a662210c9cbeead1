#pragma once

#include <cstdint>
#include <vector>

#include "tarn/system.hpp"

/// @file
/// Free energy along a coordinate from biased simulations: MBAR (Shirts & Chodera, J. Chem. Phys.
/// 129, 124105 (2008)), equations (99) and (100).

namespace tarn::analysis {

struct WindowSample {
  double coordinate;
  int window, series;  ///< samples of different series are independent
};

struct ProfilePoint {
  double coordinate;  ///< middle of the bin, a multiple of its width
  double free_energy_kcal_per_mol, error;
  std::int64_t samples;
};
struct FreeEnergyProfile {
  std::vector<ProfilePoint> points;          ///< bins with samples; the lowest one is 0
  std::vector<double> windows_kcal_per_mol;  ///< free energy of each window over that of the first
  /// Part of the samples that the histograms of window k and k + 1 have in common.
  std::vector<double> overlaps;
};

/// @param bias its centres are the windows, each with samples
/// @param series number of series; errors are those of a jackknife over them, NaN for fewer than 2
/// @param threads 0: default_threads()
FreeEnergyProfile free_energy_profile(const BiasSpec& bias, double kT_kcal_per_mol,
                                      const std::vector<WindowSample>& samples, int series,
                                      double bin_width, int threads);

}  // namespace tarn::analysis
