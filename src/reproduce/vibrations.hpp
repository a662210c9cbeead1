#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tarn/analysis/errors.hpp"

namespace tarn {

/// Modes above this wavenumber count as librations.
inline constexpr double kLibrations_per_cm = 330.0;

/// The lower part of a vibrational spectrum.
struct Spectrum {
  std::vector<double> x, states, absorption;  ///< from 0 on; x in cm^-1
  double spacing() const { return x[1]; }
  /// Integral by the trapezoidal rule.
  double modes() const;
  double mean_libration_per_cm() const { return libration_moment(1); }
  /// Shift of the mean libration that a leapfrog step causes for harmonic modes.
  double leapfrog_shift_per_cm(double timestep_fs) const;
  /// Mean of a power of the wavenumber.
  double libration_moment(int power) const;
};

/// Reads spectrum.csv up to a wavenumber.
Spectrum read_spectrum(const std::string& path, double end_per_cm);

/// Mean of n spectra with the same wavenumbers.
Spectrum mean_of(const std::vector<Spectrum>& batches, std::size_t first, std::size_t n);
Spectrum mean_of(const std::vector<Spectrum>& batches);

/// Density of states at a wavenumber, interpolated.
double states_at(const Spectrum& spectrum, double x_per_cm);

/// Half of the integral of |g - g'|, as a share of the modes of g'. The two spectra may have
/// different spacings.
double difference(const Spectrum& own, const Spectrum& reference);

/// Independent runs of one scheme against those of the reference.
struct SpectrumDeviation {
  analysis::MeanError modes, shift_per_cm, difference;
};
SpectrumDeviation deviation_of(const std::vector<Spectrum>& batches,
                               const std::vector<Spectrum>& reference);

/// The difference() of two halves of the runs.
double noise_of(const std::vector<Spectrum>& batches);

}  // namespace tarn
