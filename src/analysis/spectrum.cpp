#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/vector_clones.hpp"
#include "tarn/core/host_device.hpp"
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

struct Complex {
  double re, im;
};
TARN_HD Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
TARN_HD Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
TARN_HD Complex operator*(double s, Complex a) { return {s * a.re, s * a.im}; }
TARN_HD Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// -i a
TARN_HD Complex turned(Complex a) { return {a.im, -a.re}; }

TARN_HD void split(Complex middle, Complex across, Complex& sum, Complex& difference) {
  sum = middle + across;
  difference = middle - across;
}

/// x_q becomes sum_p x_p exp(-2 pi i pq / number).
TARN_HD void fourier(Complex (&x)[2]) { split(x[0], x[1], x[0], x[1]); }
TARN_HD void fourier(Complex (&x)[3]) {
  constexpr double kSin = 0.86602540378443864676;
  const Complex sum = x[1] + x[2], across = kSin * turned(x[1] - x[2]);
  split(x[0] - 0.5 * sum, across, x[1], x[2]);
  x[0] = x[0] + sum;
}
TARN_HD void fourier(Complex (&x)[4]) {
  const Complex even = x[0] + x[2], odd = x[1] + x[3];
  const Complex less = x[0] - x[2], across = turned(x[1] - x[3]);
  split(even, odd, x[0], x[2]);
  split(less, across, x[1], x[3]);
}
TARN_HD void fourier(Complex (&x)[5]) {
  constexpr double kCos1 = 0.30901699437494742410, kSin1 = 0.95105651629515357212;
  constexpr double kCos2 = -0.80901699437494742410, kSin2 = 0.58778525229247312917;
  const Complex zero = x[0], outer = x[1] + x[4], inner = x[2] + x[3];
  const Complex d_outer = turned(x[1] - x[4]), d_inner = turned(x[2] - x[3]);
  x[0] = zero + outer + inner;
  split(zero + kCos1 * outer + kCos2 * inner, kSin1 * d_outer + kSin2 * d_inner, x[1], x[4]);
  split(zero + kCos2 * outer + kCos1 * inner, kSin2 * d_outer - kSin1 * d_inner, x[2], x[3]);
}

/// Divides blocks of `length` numbers into kRadix parts: frequency kRadix k + q of a block becomes
/// frequency k of its part q.
template <std::size_t kRadix, class Lanes>
TARN_HD void divide(std::size_t length, std::size_t samples, const double* roots, Lanes* z) {
  const std::size_t part = length / kRadix;
  for (std::size_t i = 0; i < samples / kRadix; ++i) {
    const std::size_t block = i / part * length, j = i % part;
    Complex root[kRadix];
    for (std::size_t q = 0; q < kRadix; ++q) {
      const std::size_t turn = samples / length * j * q;
      root[q] = {roots[turn], roots[samples + turn]};
    }
    Lanes* const at = z + block + j;
    TARN_UNROLL(1)
    for (std::size_t lane = 0; lane < Lanes::kNumber; ++lane) {
      Complex x[kRadix];
      for (std::size_t p = 0; p < kRadix; ++p) {
        x[p] = {at[p * part].re[lane], at[p * part].im[lane]};
      }
      fourier(x);
      for (std::size_t q = 0; q < kRadix; ++q) {
        if (q > 0) x[q] = root[q] * x[q];
        at[q * part].re[lane] = x[q].re;
        at[q * part].im[lane] = x[q].im;
      }
    }
  }
}

}  // namespace

std::size_t segment_samples(double resolution, double interval) {
  constexpr double kLeast = 16.0;
  const double wanted = std::max(kLeast, kHannWidth / (resolution * interval));
  return 4 * next_product(wanted / 4.0);
}

Periodogram::Periodogram(std::size_t samples)
    : window_(samples), roots_(2 * samples), rows_(samples), z_(samples), squares_(frequencies()) {
  // The sum of (1 - cos)^2 over n samples is 3/2 n.
  const auto n = static_cast<double>(samples);
  const double scale = std::sqrt(1.0 / 1.5) / n;
  for (std::size_t j = 0; j < samples; ++j) {
    const double angle = 2.0 * units::pi * static_cast<double>(j) / n;
    window_[j] = scale * (1.0 - std::cos(angle));
    roots_[j] = std::cos(angle);
    roots_[samples + j] = -std::sin(angle);
  }
  // Part q of a block begins at q length / radix and adds q samples / length to the frequency.
  for (std::size_t length = samples; length > 1;) {
    std::size_t radix = 5;
    while (length % radix != 0) --radix;
    for (std::size_t at = 0; at < samples; ++at) {
      rows_[at] += at % length / (length / radix) * (samples / length);
    }
    radices_.push_back(radix);
    length /= radix;
  }
  for (std::size_t& row : rows_) row = std::min(row, samples - row);
}

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
        z_[j].re[lane] = window_[j] * factors[lane] * double{u[lane]};
        z_[j].im[lane] = window_[j] * factors[other] * double{u[other]};
      }
    }
    std::size_t length = samples;
    for (const std::size_t radix : radices_) {
      if (radix == 2) divide<2>(length, samples, roots_.data(), z_.data());
      if (radix == 3) divide<3>(length, samples, roots_.data(), z_.data());
      if (radix == 4) divide<4>(length, samples, roots_.data(), z_.data());
      if (radix == 5) divide<5>(length, samples, roots_.data(), z_.data());
      length /= radix;
    }
    // The squares at k and -k together are twice those of both real series at k.
    for (std::size_t at = 0; at < samples; ++at) {
      Lanes &sum = squares_[rows_[at]], &z = z_[at];
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
