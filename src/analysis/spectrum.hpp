#pragma once

#include <cstddef>
#include <memory>
#include <span>

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
  /// @param samples of a segment, a multiple of 4
  explicit Periodogram(std::size_t samples);
  Periodogram(Periodogram&&) noexcept;
  ~Periodogram();

  /// Number of frequencies k / (samples interval), k = 0 .. samples/2, from zero to Nyquist's.
  std::size_t frequencies() const { return samples_ / 2 + 1; }

  /// Adds the power of a segment, one-sided and corrected for the window w,
  ///   P_k = c_k |sum_j w_j u_j exp(-2 pi i jk/L)|^2 / (L sum_j w_j^2),
  /// with c_k = 1 at both ends and 2 otherwise,
  /// whose sum over k is the mean of u^2 with the weights w^2.
  /// @param weight factor of the power
  /// @param power [frequency]
  void add(std::span<const double> segment, double weight, std::span<double> power);

 private:
  struct Transform;
  std::size_t samples_;
  std::unique_ptr<Transform> transform_;
};

}  // namespace tarn::analysis
