#pragma once

#include "pack_memory.hpp"
#include "physics/pair_force.hpp"

/// @file
/// Histograms of pair distances.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::PairCounting;

/// Increments the bin of each lane's distance; lanes outside `lanes` count in the last bin.
template <class Lanes>
TARN_HD void count(const PairCounting& args, int pair_class, const Vec3<D>& d, const Lanes& lanes) {
  D bin = min(sqrt(norm2(d)) * D(args.bins_per_A), D(args.bins));
  if constexpr (!std::is_same_v<Lanes, AllLanes>) bin = select(lanes.mask, bin, D(args.bins));
  const HalfNative<std::int32_t> number = __builtin_convertvector(bin.v, HalfNative<std::int32_t>);
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(pair_class) * (args.bins + 1);
  for (int l = 0; l < kLanes; ++l) {
    std::uint64_t* histogram = args.histograms[args.lanes_are_replicas ? l : 0];
    if (histogram != nullptr) ++histogram[offset + number[l]];
  }
}
template <class Lanes>
TARN_HD void count_molecules(const PairCounting& args, const Triple<D>& i, const Triple<D>& j,
                             const Lanes& lanes) {
  for_each_distance(
      i, j, [&](int pair_class) { return args.pairs[pair_class]; },
      [&](int pair_class, const Vec3<D>& d) { count(args, pair_class, d, lanes); });
}
void count_pairs(const PairCounting& args) {
  const int n = args.molecules;
  if (args.lanes_are_replicas) {
    for (int i = args.first; i < args.last; ++i) {
      const Triple<D> x_i = load_triple(args.q + i * 9 * kLanes);
      for (int j = i + 1; j < n; ++j) {
        count_molecules(args, x_i, load_triple(args.q + j * 9 * kLanes), AllLanes{});
      }
    }
    return;
  }
  for (int i = args.first; i < args.last; ++i) {
    const double* p = args.q + i / kLanes * 9 * kLanes + i % kLanes;
    const auto vec3 = [&](int c) -> Vec3<D> {
      return {D(p[c * kLanes]), D(p[(c + 1) * kLanes]), D(p[(c + 2) * kLanes])};
    };
    const Triple<D> x_i{vec3(0), vec3(3), vec3(6)};
    for (int pack = (i + 1) / kLanes; pack * kLanes < n; ++pack) {
      const D number = lane_numbers<double>();
      const SomeLanes<D> some{(number > D(i - pack * kLanes)) & (number < D(n - pack * kLanes))};
      count_molecules(args, x_i, load_triple(args.q + pack * 9 * kLanes), some);
    }
  }
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
