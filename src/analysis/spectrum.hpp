#pragma once

#include <cstddef>
#include <span>
#include <vector>

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
  std::size_t frequencies() const { return window_.size() / 2 + 1; }

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
  static constexpr std::size_t kLanes = 8;
  /// Complex numbers of one sample, position or frequency. A lane transforms two real series, one
  /// as the real part and one as the imaginary part, and all lanes of a number are computed
  /// together.
  struct alignas(64) Lanes {
    double re[kLanes], im[kLanes];
  };
  /// A step of the transform: divides blocks of `length` numbers into `radix` parts.
  struct Pass {
    std::size_t length, radix;
  };
  static void load(std::span<const float> segments, std::size_t stride, const double* window,
                   const Lanes& factors, Lanes* out, std::size_t samples);
  static void transform(const Pass& pass, std::size_t samples, const double* roots, Lanes* z);
  static void add_squares(const Lanes* z, const std::size_t* rows, std::size_t samples,
                          Lanes* squares);

  std::vector<double> window_;  ///< its squares sum to 1/L
  std::vector<double> roots_;   ///< cos(2 pi j/L), then -sin(2 pi j/L)
  std::vector<Pass> passes_;
  std::vector<std::size_t> rows_;  ///< [position after all passes] frequency
  std::vector<Lanes> z_, squares_;
};

}  // namespace tarn::analysis
