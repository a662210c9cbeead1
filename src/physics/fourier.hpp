#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tarn/core/host_device.hpp"
#include "tarn/core/units.hpp"

/// @file
/// Fourier transforms of 2^a 3^b 5^c numbers in place, and their tables.

namespace tarn::inline TARN_ARCH {

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
/// @param roots cos(2 pi j/samples), then -sin(2 pi j/samples)
/// @param z [sample], with kNumber numbers .re[lane], .im[lane] each
/// @param first, step the threads of a block share the parts: those of one differ by `step`
template <int kRadix, class Lanes>
TARN_HD void divide(int length, int samples, const double* roots, Lanes* z, int first, int step) {
  const int part = length / kRadix;
  for (int i = first; i < samples / kRadix; i += step) {
    const int block = i / part * length, j = i % part;
    Complex root[kRadix];
    for (int q = 0; q < kRadix; ++q) {
      const int turn = samples / length * j * q;
      root[q] = {roots[turn], roots[samples + turn]};
    }
    Lanes* const at = z + block + j;
    TARN_UNROLL(1)
    for (int lane = 0; lane < Lanes::kNumber; ++lane) {
      Complex x[kRadix];
      for (int p = 0; p < kRadix; ++p) x[p] = {at[p * part].re[lane], at[p * part].im[lane]};
      fourier(x);
      for (int q = 0; q < kRadix; ++q) {
        if (q > 0) x[q] = root[q] * x[q];
        at[q * part].re[lane] = x[q].re;
        at[q * part].im[lane] = x[q].im;
      }
    }
  }
}

/// The number of parts into which blocks of a length are divided.
TARN_HD int radix_of(int length) {
  int radix = 5;
  while (length % radix != 0) --radix;
  return radix;
}

/// All passes of a transform. @param sync called after each of them, by all threads of a block
template <class Lanes, class Sync>
TARN_HD void transform(int samples, const double* roots, Lanes* z, int first, int step,
                       const Sync& sync) {
  for (int length = samples; length > 1;) {
    const int radix = radix_of(length);
    if (radix == 2) divide<2>(length, samples, roots, z, first, step);
    if (radix == 3) divide<3>(length, samples, roots, z, first, step);
    if (radix == 4) divide<4>(length, samples, roots, z, first, step);
    if (radix == 5) divide<5>(length, samples, roots, z, first, step);
    length /= radix;
    sync();
  }
}

/// Tables of a power spectrum with a Hann window.
struct SpectrumTables {
  std::vector<double> window;  ///< its squares sum to 1/L
  std::vector<double> roots;   ///< of divide()
  /// [frequency up to Nyquist's][2]: the numbers of z after all passes, or -1.
  std::vector<int> numbers;

  explicit SpectrumTables(int samples)
      : window(static_cast<std::size_t>(samples)),
        roots(2 * window.size()),
        numbers(window.size() + 2, -1) {
    // The sum of (1 - cos)^2 over n samples is 3/2 n.
    const double n = samples, scale = std::sqrt(1.0 / 1.5) / n;
    for (std::size_t j = 0; j < window.size(); ++j) {
      const double angle = 2.0 * units::pi * static_cast<double>(j) / n;
      window[j] = scale * (1.0 - std::cos(angle));
      roots[j] = std::cos(angle);
      roots[window.size() + j] = -std::sin(angle);
    }
    for (int at = 0; at < samples; ++at) {
      // Part q of a block begins at q length / radix and adds q samples / length to the frequency.
      int row = 0;
      for (int length = samples; length > 1; length /= radix_of(length)) {
        row += at % length / (length / radix_of(length)) * (samples / length);
      }
      int* const two = &numbers[2 * static_cast<std::size_t>(std::min(row, samples - row))];
      (two[0] < 0 ? two[0] : two[1]) = at;
    }
  }
};

}  // namespace tarn::inline TARN_ARCH
