#pragma once

#include <string>

#include "kernels/layout.hpp"
#include "tarn/physics/pair_force.hpp"

/// @file
/// How fast the pairs could be on a device if nothing but their arithmetic took time: the bound
/// that benchmarks are told against.
///
/// Counted are the additions, multiplications and fused ones of add_pair_forces, one instruction
/// each, and a reciprocal square root as one, though it takes several. A device does `lanes` of
/// them a multiprocessor and cycle, at its highest clock. Conversions, loads, shuffles, and sums in
/// double are not counted: the share reached is rather too low than too high.

namespace tarn {
inline namespace TARN_ARCH {

/// Instructions of one pair of molecules.
struct PairInstructions {
  int all = 0;         ///< with the forces on both molecules
  int on_partner = 0;  ///< of these, what only adds the force on the second one
};

/// A number that only counts what is done to it.
class CountedNumber {
 public:
  explicit CountedNumber(double) {}
  CountedNumber(const CountedNumber&) = default;
  CountedNumber& operator=(const CountedNumber&) = default;

  static PairInstructions& done() {
    static thread_local PairInstructions counted;
    return counted;
  }

 private:
  CountedNumber() = default;
  static CountedNumber one_more() {
    ++done().all;
    return {};
  }
  friend CountedNumber operator+(const CountedNumber&, const CountedNumber&) { return one_more(); }
  friend CountedNumber operator-(const CountedNumber&, const CountedNumber&) { return one_more(); }
  friend CountedNumber operator*(const CountedNumber&, const CountedNumber&) { return one_more(); }
  /// A sign is part of the instruction that uses it.
  friend CountedNumber operator-(const CountedNumber& a) { return a; }
  friend CountedNumber fma(const CountedNumber&, const CountedNumber&, const CountedNumber&) {
    return one_more();
  }
  /// c - a b: in add_pair_forces what goes to the partner, and nothing else.
  friend CountedNumber fnma(const CountedNumber&, const CountedNumber&, const CountedNumber&) {
    ++done().on_partner;
    return one_more();
  }
  friend CountedNumber rsqrt(const CountedNumber&) { return one_more(); }
};

template <bool kMSite>
PairInstructions count_pair_instructions() {
  const CountedNumber n(0.0);
  const Vec3<CountedNumber> v{n, n, n};
  SiteForces<CountedNumber> f_i{v, v, v, v}, f_j = f_i;
  CountedNumber::done() = {};
  add_pair_forces<kMSite>(PairParameters<double>{}, v, SiteOffsets<CountedNumber>{v, v, v},
                          SiteOffsets<CountedNumber>{v, v, v}, AllLanes{}, f_i, f_j);
  return CountedNumber::done();
}

}  // namespace TARN_ARCH

namespace gpu {

/// Instructions that a path spends on a pair: once for both molecules on the warp path, from each
/// side on the others.
inline int instructions_of_pair(Path path, bool m_site) {
  const PairInstructions p =
      m_site ? count_pair_instructions<true>() : count_pair_instructions<false>();
  return path == Path::warp ? p.all : 2 * (p.all - p.on_partner);
}

/// Instructions a multiprocessor and cycle, of floats or doubles; 0 for a device that is not known.
/// (CUDA C++ Programming Guide, throughput of native arithmetic instructions.)
inline int lanes_of(const std::string& compute_capability, bool floats) {
  struct Row {
    const char* capability;
    int floats, doubles;
  };
  constexpr Row rows[] = {{"7.5", 64, 2},   {"8.0", 64, 32},   {"8.6", 128, 2}, {"8.9", 128, 2},
                          {"9.0", 128, 64}, {"10.0", 128, 64}, {"12.0", 128, 2}};
  for (const Row& row : rows) {
    if (compute_capability == row.capability) return floats ? row.floats : row.doubles;
  }
  return 0;
}

/// Share of the bound that so many pairs a second are.
inline double share_of_bound(double pairs_per_s, int instructions_of_pair, int multiprocessors,
                             int lanes, double clock_Hz) {
  return pairs_per_s * instructions_of_pair / (clock_Hz * multiprocessors * lanes);
}

}  // namespace gpu
}  // namespace tarn
