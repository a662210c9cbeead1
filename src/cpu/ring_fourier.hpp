#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "molecule_passes.hpp"

/// @file
/// Transforms between beads and modes by fast Fourier transforms. A lane is a coordinate here: two
/// packs of coordinates are the real and the imaginary part of one complex sequence of beads.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::RingFourier;
using cpu::RingTransform;

struct ComplexPack {
  D re, im;

  friend TARN_HD ComplexPack operator+(const ComplexPack& a, const ComplexPack& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend TARN_HD ComplexPack operator-(const ComplexPack& a, const ComplexPack& b) {
    return {a.re - b.re, a.im - b.im};
  }
  /// -i a
  TARN_HD ComplexPack turned() const { return {im, -re}; }
  TARN_HD ComplexPack times(const double* w) const {
    const D c(w[0]), s(w[1]);
    return {fnma(im, s, re * c), fma(im, c, re * s)};
  }
};
/// A sequence of packs of complex numbers.
struct ComplexPacks {
  double *re, *im;

  TARN_HD ComplexPack get(int k) const {
    return {D::load(re + k * kLanes), D::load(im + k * kLanes)};
  }
  TARN_HD void put(int k, const ComplexPack& a) const {
    a.re.store(re + k * kLanes);
    a.im.store(im + k * kLanes);
  }
};

TARN_HD void fourier_of_two(ComplexPack* a) {
  const ComplexPack sum = a[0] + a[1];
  a[1] = a[0] - a[1];
  a[0] = sum;
}
TARN_HD void fourier_of_four(ComplexPack* a) {
  const ComplexPack even_sum = a[0] + a[2], even_difference = a[0] - a[2], odd_sum = a[1] + a[3],
                    odd_difference = (a[1] - a[3]).turned();
  a[0] = even_sum + odd_sum;
  a[1] = even_difference + odd_difference;
  a[2] = even_sum - odd_sum;
  a[3] = even_difference - odd_difference;
}
/// For an odd radix, in about radix^2 operations.
/// @param roots e^(-2 pi i j/radix)
/// @param work for radix - 1 numbers
[[gnu::always_inline]] inline void fourier_of_odd(int radix, const double* roots, ComplexPack* a,
                                                  ComplexPack* work) {
  const int half = radix / 2;
  ComplexPack *const sums = work, *const differences = work + half;
  const ComplexPack first = a[0];
  for (int j = 0; j < half; ++j) {
    sums[j] = a[j + 1] + a[radix - 1 - j];
    differences[j] = (a[j + 1] - a[radix - 1 - j]).turned();
    a[0] = a[0] + sums[j];
  }
  for (int k = 1; k <= half; ++k) {
    ComplexPack even = first, odd{D(0.0), D(0.0)};
    int turn = 0;  // (j + 1) k modulo the radix
    for (int j = 0; j < half; ++j) {
      turn = turn + k < radix ? turn + k : turn + k - radix;
      const D c(roots[2 * turn]), s(roots[2 * turn + 1]);
      even = {fma(c, sums[j].re, even.re), fma(c, sums[j].im, even.im)};
      odd = {fnma(s, differences[j].re, odd.re), fnma(s, differences[j].im, odd.im)};
    }
    a[k] = even + odd;
    a[radix - k] = even - odd;
  }
}

/// One pass of a Fourier transform in the order of Stockham. `count` numbers of each of `stride`
/// sequences are left; the pass divides them by the radix.
/// @tparam kRadix 0 for a prime above 7
template <int kRadix>
void fourier_pass(int radix_if_0, int count, int stride, const double* twiddles,
                  const double* roots, const ComplexPacks& from, const ComplexPacks& to) {
  const int radix = kRadix > 0 ? kRadix : radix_if_0, part = count / radix;
  constexpr int kMostRadix = kRadix > 0 ? kRadix : kMaxBeads;
  ComplexPack a[kMostRadix], work[kMostRadix];
  for (int p = 0; p < part; ++p) {
    const double* const w = twiddles + 2 * (radix - 1) * p;
    for (int q = 0; q < stride; ++q) {
      for (int j = 0; j < radix; ++j) a[j] = from.get(q + stride * (p + part * j));
      if constexpr (kRadix == 2) {
        fourier_of_two(a);
      } else if constexpr (kRadix == 4) {
        fourier_of_four(a);
      } else {
        fourier_of_odd(radix, roots, a, work);
      }
      to.put(q + stride * radix * p, a[0]);
      for (int k = 1; k < radix; ++k) {
        to.put(q + stride * (radix * p + k), a[k].times(w + 2 * (k - 1)));
      }
    }
  }
}
void copy_packs(int count, const ComplexPacks& from, const ComplexPacks& to) {
  if (from.re == to.re) return;
  for (int k = 0; k < count; ++k) to.put(k, from.get(k));
}
/// The forward transform of `count` numbers in `a`. @return where the result is: `a` or `b`
ComplexPacks fourier(const RingFourier& plan, int count, ComplexPacks a, ComplexPacks b) {
  int stride = 1;
  for (int i = 0; i < plan.passes; ++i) {
    const int radix = plan.radices[i];
    const auto pass = radix == 2   ? fourier_pass<2>
                      : radix == 3 ? fourier_pass<3>
                      : radix == 4 ? fourier_pass<4>
                      : radix == 5 ? fourier_pass<5>
                      : radix == 7 ? fourier_pass<7>
                                   : fourier_pass<0>;
    pass(radix, count, stride, plan.twiddles[i], plan.roots[i], a, b);
    count /= radix;
    stride *= radix;
    std::swap(a, b);
  }
  return a;
}

/// Transposes kLanes packs.
TARN_HD void transpose(D (&rows)[kLanes]) {
  const auto stage = [&](auto distance, auto... lane) {
    constexpr int kBy = decltype(distance)::value;
    for (int i = 0; i < kLanes; ++i) {
      if (i & kBy) continue;
      const D a = rows[i], b = rows[i + kBy];
      rows[i] = {__builtin_shufflevector(
          a.v, b.v,
          (decltype(lane)::value & kBy ? kLanes + decltype(lane)::value - kBy
                                       : decltype(lane)::value)...)};
      rows[i + kBy] = {
          __builtin_shufflevector(a.v, b.v,
                                  (decltype(lane)::value & kBy ? kLanes + decltype(lane)::value
                                                               : decltype(lane)::value + kBy)...)};
    }
  };
  const auto stages = [&]<int... kLane>(std::integer_sequence<int, kLane...>) {
    const auto all = [&](auto distance) {
      if constexpr (decltype(distance)::value < kLanes) {
        stage(distance, std::integral_constant<int, kLane>()...);
      }
    };
    all(std::integral_constant<int, 1>());
    all(std::integral_constant<int, 2>());
    all(std::integral_constant<int, 4>());
  };
  stages(std::make_integer_sequence<int, kLanes>());
}
/// Copies kLanes coordinates of all beads or modes from packs of beads to packs of coordinates, or
/// zeros for those beyond the last one.
void gather_coordinates(const RingTransform& t, const double* in, int first, double* out) {
  for (int pack = 0; pack < t.packs; ++pack) {
    D rows[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      const int number = first + i;
      rows[i] = number < t.numbers
                    ? D::load(in + static_cast<std::ptrdiff_t>(pack * t.numbers + number) * kLanes)
                    : D(0.0);
    }
    transpose(rows);
    for (int l = 0; l < kLanes; ++l) rows[l].store(out + (pack * kLanes + l) * kLanes);
  }
}
/// The reverse, with unused slots as RingTransform has them.
void scatter_coordinates(const RingTransform& t, const double* in, int first, double* out) {
  const int used = t.rings * t.beads;
  for (int pack = 0; pack < t.packs; ++pack) {
    D rows[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      const int slot = pack * kLanes + l;
      rows[l] = slot < used ? D::load(in + slot * kLanes) : t.to_beads ? D::load(in) : D(0.0);
    }
    transpose(rows);
    for (int i = 0; i < kLanes && first + i < t.numbers; ++i) {
      rows[i].store(out + static_cast<std::ptrdiff_t>(pack * t.numbers + first + i) * kLanes);
    }
  }
}

/// Modes of two real sequences a and b from the Fourier transform z of a + i b:
/// cos and sin modes are the real and the negative imaginary part of norm_k e^(-i pi k/P) A_k.
void modes_of_fourier(const RingTransform& t, const ComplexPacks& z, const ComplexPacks& modes) {
  const int beads = t.beads, cosines = (beads + 1) / 2;
  for (int k = 0; 2 * k <= beads; ++k) {
    const ComplexPack u = z.get(k), v = z.get(k == 0 ? 0 : beads - k);
    const double* const half = t.fourier->half_phases + 2 * k;
    const D c(half[0]), s(half[1]);
    // Twice A_k and B_k.
    const ComplexPack a{u.re + v.re, u.im - v.im}, b{u.im + v.im, v.re - u.re};
    if (2 * k < beads) modes.put(k, {fma(a.im, s, a.re * c), fma(b.im, s, b.re * c)});
    if (k > 0) {
      modes.put(cosines + k - 1, {fnma(a.im, c, a.re * s), fnma(b.im, c, b.re * s)});
    }
  }
}
/// The reverse: the transform z whose inverse has the beads as real and imaginary parts.
void fourier_of_modes(const RingTransform& t, const ComplexPacks& modes, const ComplexPacks& z) {
  const int beads = t.beads, cosines = (beads + 1) / 2;
  const ComplexPack none{D(0.0), D(0.0)};
  for (int k = 0; 2 * k <= beads; ++k) {
    const ComplexPack cosine = 2 * k < beads ? modes.get(k) : none;
    const ComplexPack sine = k > 0 ? modes.get(cosines + k - 1) : none;
    const double* const half = t.fourier->half_phases + 2 * k;
    const D c(half[0]), s(half[1]);
    const ComplexPack a{fma(sine.re, s, cosine.re * c), fnma(sine.re, c, cosine.re * s)};
    const ComplexPack b{fma(sine.im, s, cosine.im * c), fnma(sine.im, c, cosine.im * s)};
    if (k == 0 || 2 * k == beads) {
      z.put(k, {a.re + a.re, b.re + b.re});
    } else {
      z.put(k, {a.re - b.im, a.im + b.re});
      z.put(beads - k, {a.re + b.im, b.re - a.im});
    }
  }
}

/// See RingTransform: two packs of coordinates at a time, one ring polymer after another.
void fourier_transform(const RingTransform& t, const double* in, double* out) {
  constexpr std::size_t kSize = static_cast<std::size_t>(cpu::kMaxRingSlots) * kLanes;
  alignas(sizeof(D)) double real[kSize], imaginary[kSize], spare[2][kSize];
  for (int first = 0; first < t.numbers; first += 2 * kLanes) {
    gather_coordinates(t, in, first, real);
    gather_coordinates(t, in, first + kLanes, imaginary);
    for (int ring = 0; ring < t.rings; ++ring) {
      const ComplexPacks own{real + ring * t.beads * kLanes, imaginary + ring * t.beads * kLanes},
          other{spare[0], spare[1]};
      if (t.to_beads) {
        fourier_of_modes(t, own, other);
        // The inverse transform: real and imaginary parts change places.
        const ComplexPacks z = fourier(*t.fourier, t.beads, {other.im, other.re}, {own.im, own.re});
        copy_packs(t.beads, {z.im, z.re}, own);
      } else {
        copy_packs(t.beads, fourier(*t.fourier, t.beads, own, other), other);
        modes_of_fourier(t, other, own);
      }
    }
    scatter_coordinates(t, real, first, out);
    scatter_coordinates(t, imaginary, first + kLanes, out);
  }
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
