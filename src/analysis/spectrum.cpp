#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/vector_clones.hpp"

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

Periodogram::Periodogram(std::size_t samples)
    : tables_(static_cast<int>(samples)), z_(samples), squares_(frequencies()) {}

TARN_VECTOR_CLONES void Periodogram::add(std::span<const float> segments,
                                         std::span<const double> weights, std::span<double> power) {
  constexpr std::size_t kSeries = 2 * Lanes::kNumber;
  const std::size_t samples = z_.size(), stride = segments.size() / samples;
  std::fill(squares_.begin(), squares_.end(), Lanes{});
  for (std::size_t first = 0; first < weights.size(); first += kSeries) {
    double factors[kSeries] = {};
    const std::size_t last = std::min(first + kSeries, weights.size());
    for (std::size_t s = first; s < last; ++s) factors[s - first] = std::sqrt(weights[s]);
    for (std::size_t j = 0; j < samples; ++j) {
      const std::span<const float> rest = segments.subspan(j * stride + first);
      float few[kSeries] = {};
      const float* u = rest.data();
      if (rest.size() < kSeries) u = std::copy(rest.begin(), rest.end(), few) - rest.size();
      TARN_UNROLL(1)
      for (std::size_t lane = 0; lane < Lanes::kNumber; ++lane) {
        const std::size_t other = Lanes::kNumber + lane;
        z_[j].re[lane] = tables_.window[j] * factors[lane] * double{u[lane]};
        z_[j].im[lane] = tables_.window[j] * factors[other] * double{u[other]};
      }
    }
    transform(static_cast<int>(samples), tables_.roots.data(), z_.data(), 0, 1, [] {});
    // The squares at k and -k together are twice those of both real series at k.
    for (std::size_t at = 0; at < tables_.numbers.size(); ++at) {
      if (tables_.numbers[at] < 0) continue;
      Lanes &sum = squares_[at / 2], &z = z_[static_cast<std::size_t>(tables_.numbers[at])];
      TARN_UNROLL(1)
      for (std::size_t lane = 0; lane < Lanes::kNumber; ++lane) {
        sum.re[lane] += z.re[lane] * z.re[lane] + z.im[lane] * z.im[lane];
      }
    }
  }
  for (std::size_t k = 0; k < frequencies(); ++k) {
    for (const double square : squares_[k].re) power[k] += square;
  }
}

}  // namespace tarn::analysis
