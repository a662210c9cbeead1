#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/aligned.hpp"
#include "kernel_table.hpp"
#include "physics/ring_polymer.hpp"

namespace tarn::cpu {

/// The fewest ring polymers whose beads fill nine tenths of the lanes of their packs.
constexpr int rings_in_group(int beads, int lanes) {
  int rings = 1;
  while (10 * rings * beads < 9 * ((rings * beads + lanes - 1) / lanes * lanes)) ++rings;
  return rings;
}
/// Whether transforms are products with matrices, see RingTransform.
/// @param lanes doubles in a pack; @param wide_lanes lanes of the pair type
constexpr bool transforms_are_folded(int beads, int lanes, int wide_lanes) {
  return beads <= kMaxFoldedBeads && beads % (2 * lanes) == 0 && beads % wide_lanes == 0;
}

/// The passes and the constants of Fourier transforms of P beads.
class FourierTables {
 public:
  explicit FourierTables(int beads) {
    int left = beads;
    const auto add_passes = [&](int radix) {
      while (left % radix == 0) {
        add_pass(left, radix);
        left /= radix;
      }
    };
    add_passes(4);
    add_passes(2);
    for (int radix = 3; left > 1; radix += 2) add_passes(radix);
    for (int k = 0; 2 * k <= beads; ++k) {
      const bool alone = k == 0 || 2 * k == beads;
      const double half = 0.5 * std::sqrt((alone ? 1.0 : 2.0) / beads);
      const double angle = units::pi * k / beads;
      half_phases_.push_back(half * std::cos(angle));
      half_phases_.push_back(half * std::sin(angle));
    }
  }
  RingFourier plan() const {
    RingFourier plan{};
    plan.passes = static_cast<int>(passes_.size());
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      plan.radices[i] = passes_[i].radix;
      plan.twiddles[i] = passes_[i].twiddles.data();
      plan.roots[i] = passes_[i].roots.data();
    }
    plan.half_phases = half_phases_.data();
    return plan;
  }

 private:
  struct Pass {
    int radix;
    std::vector<double> twiddles, roots;
  };
  /// e^(-2 pi i k/n)
  static void add_root(long k, int n, std::vector<double>& to) {
    const double angle = 2.0 * units::pi * static_cast<double>(k % n) / n;
    to.push_back(std::cos(angle));
    to.push_back(-std::sin(angle));
  }
  void add_pass(int count, int radix) {
    Pass pass{radix, {}, {}};
    for (long p = 0; p < count / radix; ++p) {
      for (int k = 1; k < radix; ++k) add_root(p * k, count, pass.twiddles);
    }
    for (int j = 0; j < radix; ++j) add_root(j, radix, pass.roots);
    passes_.push_back(std::move(pass));
  }

  std::vector<Pass> passes_;
  std::vector<double> half_phases_;
};

/// The transforms between beads and modes.
class RingTransforms {
 public:
  RingTransforms(int beads, bool folded) : beads_(beads), tables_(beads), fourier_(tables_.plan()) {
    if (!folded) return;
    const auto half = static_cast<std::size_t>(beads) / 2;
    for (AlignedVector<double>* part :
         {&even_to_modes_, &odd_to_modes_, &even_to_beads_, &odd_to_beads_}) {
      part->assign(half * half, 0.0);
    }
    for (std::size_t mode = 0; mode < 2 * half; ++mode) {
      const bool even = mode < half;
      const std::size_t m = even ? mode : mode - half;
      for (std::size_t j = 0; j < half; ++j) {
        const double element = mode_of_bead(static_cast<int>(mode), static_cast<int>(j), beads);
        (even ? even_to_modes_ : odd_to_modes_)[j * half + m] = element;
        (even ? even_to_beads_ : odd_to_beads_)[m * half + j] = element;
      }
    }
  }
  /// Of `rings` ring polymers in `packs` packs of slots; several only by Fourier transforms.
  RingTransform to_modes(int rings, int packs, int numbers) const {
    return transform(even_to_modes_, odd_to_modes_, rings, packs, numbers, false);
  }
  RingTransform to_beads(int rings, int packs, int numbers) const {
    return transform(even_to_beads_, odd_to_beads_, rings, packs, numbers, true);
  }

 private:
  RingTransform transform(const AlignedVector<double>& even, const AlignedVector<double>& odd,
                          int rings, int packs, int numbers, bool to_beads) const {
    return {&fourier_,
            even.empty() ? nullptr : even.data(),
            odd.empty() ? nullptr : odd.data(),
            beads_,
            rings,
            packs,
            numbers,
            to_beads};
  }

  int beads_;
  FourierTables tables_;
  RingFourier fourier_;
  AlignedVector<double> even_to_modes_, odd_to_modes_, even_to_beads_, odd_to_beads_;
};

}  // namespace tarn::cpu
