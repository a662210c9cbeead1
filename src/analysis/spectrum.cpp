#include "spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

/// x_q becomes sum_p x_p exp(-2 pi i pq / number).
TARN_HD void fourier(Complex (&x)[2]) {
  const Complex sum = x[0] + x[1];
  x[1] = x[0] - x[1];
  x[0] = sum;
}
TARN_HD void fourier(Complex (&x)[3]) {
  constexpr double kSin = 0.86602540378443864676;
  const Complex sum = x[1] + x[2], across = kSin * turned(x[1] - x[2]);
  const Complex middle = x[0] - 0.5 * sum;
  x[0] = x[0] + sum;
  x[1] = middle + across;
  x[2] = middle - across;
}
TARN_HD void fourier(Complex (&x)[4]) {
  const Complex even = x[0] + x[2], odd = x[1] + x[3];
  const Complex less = x[0] - x[2], across = turned(x[1] - x[3]);
  x[0] = even + odd;
  x[1] = less + across;
  x[2] = even - odd;
  x[3] = less - across;
}
TARN_HD void fourier(Complex (&x)[5]) {
  constexpr double kCos1 = 0.30901699437494742410, kSin1 = 0.95105651629515357212;
  constexpr double kCos2 = -0.80901699437494742410, kSin2 = 0.58778525229247312917;
  const Complex outer = x[1] + x[4], inner = x[2] + x[3];
  const Complex d_outer = turned(x[1] - x[4]), d_inner = turned(x[2] - x[3]);
  const Complex middle1 = x[0] + kCos1 * outer + kCos2 * inner;
  const Complex middle2 = x[0] + kCos2 * outer + kCos1 * inner;
  const Complex across1 = kSin1 * d_outer + kSin2 * d_inner;
  const Complex across2 = kSin2 * d_outer - kSin1 * d_inner;
  x[0] = x[0] + outer + inner;
  x[1] = middle1 + across1;
  x[2] = middle2 + across2;
  x[3] = middle2 - across2;
  x[4] = middle1 - across1;
}

/// Divides the blocks of `length` numbers into kRadix parts: frequency kRadix k + q of a block is
/// frequency k of its part q.
template <std::size_t kRadix, std::size_t kLanes, class Lanes>
TARN_HD void divide(std::size_t length, std::size_t samples, const double* roots, Lanes* z) {
  const std::size_t part = length / kRadix;
  for (Lanes* block = z; block < z + samples; block += length) {
    for (std::size_t j = 0; j < part; ++j) {
      Complex root[kRadix];
      for (std::size_t q = 0; q < kRadix; ++q) {
        const std::size_t at = samples / length * j * q;
        root[q] = {roots[at], roots[samples + at]};
      }
      Lanes* const at = block + j;
      TARN_UNROLL(1)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
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
    passes_.push_back({length, radix});
    length /= radix;
  }
  for (std::size_t& row : rows_) row = std::min(row, samples - row);
}

TARN_VECTOR_CLONES void Periodogram::load(std::span<const float> segments, std::size_t stride,
                                          const double* window, const Lanes& factors, Lanes* out,
                                          std::size_t samples) {
  for (std::size_t j = 0; j < samples; ++j) {
    const std::span<const float> rest = segments.subspan(j * stride);
    float few[2 * kLanes] = {};
    const float* u = rest.data();
    if (rest.size() < std::size(few)) u = std::copy(rest.begin(), rest.end(), few) - rest.size();
    TARN_UNROLL(1)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      out[j].re[lane] = window[j] * factors.re[lane] * double{u[lane]};
      out[j].im[lane] = window[j] * factors.im[lane] * double{u[kLanes + lane]};
    }
  }
}

TARN_VECTOR_CLONES void Periodogram::transform(const Pass& pass, std::size_t samples,
                                               const double* roots, Lanes* z) {
  if (pass.radix == 2) divide<2, kLanes>(pass.length, samples, roots, z);
  if (pass.radix == 3) divide<3, kLanes>(pass.length, samples, roots, z);
  if (pass.radix == 4) divide<4, kLanes>(pass.length, samples, roots, z);
  if (pass.radix == 5) divide<5, kLanes>(pass.length, samples, roots, z);
}

TARN_VECTOR_CLONES void Periodogram::add_squares(const Lanes* z, const std::size_t* rows,
                                                 std::size_t samples, Lanes* squares) {
  for (std::size_t at = 0; at < samples; ++at) {
    Lanes& to = squares[rows[at]];
    TARN_UNROLL(1)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      to.re[lane] += z[at].re[lane] * z[at].re[lane] + z[at].im[lane] * z[at].im[lane];
    }
  }
}

void Periodogram::add(std::span<const float> segments, std::span<const double> weights,
                      std::span<double> power) {
  const std::size_t samples = window_.size(), stride = segments.size() / samples;
  std::fill(squares_.begin(), squares_.end(), Lanes{});
  for (std::size_t first = 0; first < weights.size(); first += 2 * kLanes) {
    Lanes factors{};
    for (std::size_t s = first; s < std::min(first + 2 * kLanes, weights.size()); ++s) {
      const std::size_t lane = (s - first) % kLanes;
      (s - first < kLanes ? factors.re : factors.im)[lane] = std::sqrt(weights[s]);
    }
    load(segments.subspan(first), stride, window_.data(), factors, z_.data(), samples);
    for (const Pass& pass : passes_) transform(pass, samples, roots_.data(), z_.data());
    // The squares at k and -k together are twice those of both real series at k.
    add_squares(z_.data(), rows_.data(), samples, squares_.data());
  }
  for (std::size_t k = 0; k < frequencies(); ++k) {
    for (const double square : squares_[k].re) power[k] += square;
  }
}

}  // namespace tarn::analysis
