#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <unsupported/Eigen/FFT>

#include "tarn/core/units.hpp"

namespace tarn::analysis {
namespace {

/// The smallest 2^a 3^b 5^c that is at least `least`.
std::size_t next_product(double least) {
  double best = std::exp2(std::ceil(std::log2(least)));
  for (double fives = 1.0; fives < best; fives *= 5.0) {
    for (double odd = fives; odd < best; odd *= 3.0) {
      double n = odd;
      while (n < least) n *= 2.0;
      best = std::min(best, n);
    }
  }
  return static_cast<std::size_t>(best);
}

}  // namespace

std::size_t segment_samples(double resolution, double interval) {
  constexpr double kLeast = 16.0;
  const double wanted = std::max(kLeast, kHannWidth / (resolution * interval));
  return 4 * next_product(wanted / 4.0);
}

struct Periodogram::Transform {
  Eigen::FFT<double> fft;
  std::vector<double> window;  // its squares sum to 1/L
  std::vector<double> segment;
  std::vector<std::complex<double>> amplitudes;
};

Periodogram::Periodogram(std::size_t samples)
    : samples_(samples), transform_(std::make_unique<Transform>()) {
  Transform& t = *transform_;
  t.fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  t.window.resize(samples);
  t.segment.resize(samples);
  t.amplitudes.resize(frequencies());
  // The sum of (1 - cos)^2 over n samples is 3/2 n.
  const auto n = static_cast<double>(samples);
  const double scale = std::sqrt(1.0 / 1.5) / n;
  for (std::size_t j = 0; j < samples; ++j) {
    t.window[j] = scale * (1.0 - std::cos(2.0 * units::pi * static_cast<double>(j) / n));
  }
}

Periodogram::Periodogram(Periodogram&&) noexcept = default;
Periodogram::~Periodogram() = default;

void Periodogram::add(std::span<const double> segment, double weight, std::span<double> power) {
  Transform& t = *transform_;
  for (std::size_t j = 0; j < samples_; ++j) t.segment[j] = t.window[j] * segment[j];
  t.fft.fwd(t.amplitudes.data(), t.segment.data(), static_cast<Eigen::Index>(samples_));
  const std::size_t last = samples_ / 2;
  power[0] += weight * std::norm(t.amplitudes[0]);
  for (std::size_t k = 1; k < last; ++k) power[k] += 2.0 * weight * std::norm(t.amplitudes[k]);
  power[last] += weight * std::norm(t.amplitudes[last]);
}

}  // namespace tarn::analysis
