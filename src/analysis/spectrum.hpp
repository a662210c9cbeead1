#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "physics/fourier.hpp"

/// @file
/// Power spectra of segments (Welch 1967) with a Hann window, equation (56).

namespace tarn::analysis {

/// Full width at half maximum of an infinitely sharp line, in frequency spacings, for the Hann
/// window: sin(pi x/2) / (pi x/2) / (1 - x^2/4) = 2^-1/2.
inline constexpr double kHannWidth = 1.4405825801202676;

/// Samples in a segment with the given resolution: the next larger multiple of four without a prime
/// factor above 5, for a fast transform.
/// @param resolution full width at half maximum of a sharp line [1/time]
/// @param interval between samples [time]
/// @return at least 16
std::size_t segment_samples(double resolution, double interval);

/// Power spectrum of segments of one length.
class Periodogram {
 public:
  /// @param samples of a segment, a multiple of 4 without a prime factor above 5
  explicit Periodogram(std::size_t samples);

  /// Number of frequencies k / (samples interval), k = 0 .. samples/2, from zero to Nyquist's.
  std::size_t frequencies() const { return z_.size() / 2 + 1; }

  /// Adds the powers of the segments of several series, one-sided and corrected for the window w,
  ///   P_k = c_k |sum_j w_j u_j exp(-2 pi i jk/L)|^2 / (L sum_j w_j^2),
  /// with c_k = 1 at both ends and 2 otherwise,
  /// whose sum over k is the mean of u^2 with the weights w^2.
  /// @param segments [sample][series]; further series than have weights are ignored
  /// @param weights [series] factors of the powers, not negative
  /// @param power [frequency]
  void add(std::span<const float> segments, std::span<const double> weights,
           std::span<double> power);

 private:
  /// Complex numbers of one sample or frequency. A lane transforms two real series, one as the real
  /// and one as the imaginary part. All lanes are computed together.
  struct alignas(64) Lanes {
    static constexpr int kNumber = 8;
    double re[kNumber], im[kNumber];
  };
  SpectrumTables tables_;
  std::vector<Lanes> z_, squares_;
};

}  // namespace tarn::analysis
