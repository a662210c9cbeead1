#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cluster_shape.hpp"

/// @file
/// Time correlation functions of a cluster, equations (68) to (70): vectors, time origins, and the
/// layout of their memory, which is the same in analysis::TimeCorrelation and on devices.

namespace tarn::inline TARN_ARCH {

/// The correlation functions. Equation (68): Legendre polynomials P1 and P2 of the reorientation of
/// O-H bonds, H-H vectors and dipoles. Equation (69): pairs of molecules that are hydrogen-bonded
/// at the origin and at the lag (intermittent), or at all samples between (continuous). Equation
/// (70): mean square displacement of the oxygens.
enum Correlation : std::size_t {
  kOhP1,
  kOhP2,
  kHhP1,
  kHhP2,
  kDipoleP1,
  kDipoleP2,
  kIntermittentBond,
  kContinuousBond,
  kDisplacement  ///< mean square [A^2]
};
inline constexpr int kCorrelations = 9;

/// Time origins of a window.
inline constexpr int kOrigins = 16;
/// The unit vectors of equation (68), O-H1, O-H2, H-H and dipole, and the oxygen relative to the
/// centre of mass.
inline constexpr int kTurning = 4, kCorrelatedVectors = kTurning + 1;

/// @param rows out: [vector, component][molecule]
TARN_HD void put_vectors(const Triple<double>& q, const Vec3<double>& centre, int molecule,
                         int molecules, double* rows) {
  const Vec3<double> oh1 = q.h1 - q.o, oh2 = q.h2 - q.o;
  const Vec3<double> vectors[] = {oh1, oh2, q.h2 - q.h1, oh1 + oh2, q.o - centre};
  for (int k = 0; k < kCorrelatedVectors; ++k) {
    const Vec3<double>& d = vectors[k];
    const double scale = k < kTurning ? 1.0 / sqrt(d.x * d.x + d.y * d.y + d.z * d.z) : 1.0;
    double* const to = rows + 3 * k * molecules + molecule;
    to[0] = scale * d.x;
    to[molecules] = scale * d.y;
    to[2 * molecules] = scale * d.z;
  }
}
/// What a molecule adds to the centre of mass of a cluster without isotopes.
/// @param share_o, share_h mass fractions of an atom in its molecule
TARN_HD Vec3<double> share_of_centre(const Triple<double>& q, double share_o, double share_h,
                                     int molecules) {
  const Vec3<double> mass = share_o * q.o + share_h * (q.h1 + q.h2);
  const double n = molecules;
  return {mass.x / n, mass.y / n, mass.z / n};
}
/// Whether a hydrogen of either molecule bonds it to the other.
TARN_HD bool are_bonded(const Triple<double>& a, const Triple<double>& b) {
  const Vec3<double> oo = b.o - a.o;
  const double oo2 = norm2(oo);
  // Most pairs are farther apart, and need no roots.
  if (oo2 >= kHydrogenBond_A * kHydrogenBond_A) return false;
  return is_hydrogen_bond(oo, oo2, a.h1 - a.o) || is_hydrogen_bond(oo, oo2, a.h2 - a.o) ||
         is_hydrogen_bond(-oo, oo2, b.h1 - b.o) || is_hydrogen_bond(-oo, oo2, b.h2 - b.o);
}

/// The time origins with which a sample is compared, by place.
struct ComparedOrigins {
  int lag[kOrigins];   ///< samples since then; -1: not compared
  int slot[kOrigins];  ///< of its window
  int beginning = -1;  ///< place of the origin that begins at the sample

  /// Slot of the window that is complete after the comparison, or -1.
  constexpr int completed(int longest) const {
    return lag[kOrigins - 1] == longest ? slot[kOrigins - 1] : -1;
  }
};

/// The memory of a cluster for time correlations.
struct CorrelationMemory {
  double* then;                   ///< vectors of the origins, [row][place]
  double* windows;                ///< by slot: [lag][correlation], then the number of bonds
  std::uint32_t *bonded, *still;  ///< pairs, at the origin and since then: [word][place]
};

/// The layout of a CorrelationMemory, and the schedule of its origins. Origin k is sample
/// k * spacing(); it has the place k modulo kOrigins. Window k / kOrigins has one of two slots by
/// turns. Words have a bit per pair of molecules: (1,0), (2,0), (2,1), (3,0) and so on.
struct CorrelationLayout {
  int molecules, longest;

  TARN_HD constexpr int rows() const { return 3 * kCorrelatedVectors * molecules; }
  TARN_HD constexpr int pairs() const { return molecules * (molecules - 1) / 2; }
  TARN_HD constexpr int words() const { return (pairs() + 31) / 32; }
  TARN_HD constexpr int window_numbers() const { return kCorrelations * (longest + 1) + 1; }
  TARN_HD constexpr std::size_t bytes() const {
    const int numbers = kOrigins * (rows() + words()) + 2 * window_numbers();
    return sizeof(double) * static_cast<std::size_t>(numbers);
  }
  TARN_HD CorrelationMemory parts(std::byte* bytes) const {
    auto* const then = reinterpret_cast<double*>(bytes);
    double* const windows = then + kOrigins * rows();
    auto* const bonded = reinterpret_cast<std::uint32_t*>(windows + 2 * window_numbers());
    return {then, windows, bonded, bonded + kOrigins * words()};
  }

  /// Numbers of a sample on a device: the vectors, [row], and then the words of bonded pairs.
  TARN_HD constexpr int sample_numbers() const { return rows() + (words() + 1) / 2; }

  constexpr int spacing() const { return (longest + kOrigins - 1) / kOrigins; }
  constexpr bool is_origin(std::int64_t sample) const { return sample % spacing() == 0; }
  /// @param itself whether to compare only with the origin that begins at this sample, after all
  ///        others
  constexpr ComparedOrigins compared(std::int64_t sample, bool itself) const {
    ComparedOrigins all{};
    for (int& lag : all.lag) lag = -1;
    for (std::int64_t k = sample / spacing(); k >= 0 && sample - k * spacing() <= longest; --k) {
      const auto lag = static_cast<int>(sample - k * spacing());
      const auto place = static_cast<int>(k % kOrigins);
      if ((lag == 0) != itself) continue;
      all.lag[place] = lag;
      all.slot[place] = static_cast<int>(k / kOrigins % 2);
      if (itself) all.beginning = place;
    }
    return all;
  }
};

/// Two correlations, or the displacement, of a sample with kPlaces origins. Sums are over the
/// molecules in order; no other part or place changes the same memory.
/// @param vectors of put_vectors() @param bonded words of pairs @param part correlations 2 part and
///        2 part + 1 @param first place
template <int kPlaces>
TARN_HD void compare(const CorrelationLayout& layout, const double* vectors,
                     const std::uint32_t* bonded, const ComparedOrigins& origins, int part,
                     int first, const CorrelationMemory& memory) {
  const int n = layout.molecules, lags = layout.longest + 1;
  const int begins = origins.beginning - first;
  double values[2][kPlaces] = {};
  if (part == kIntermittentBond / 2) {
    for (int w = 0; w < layout.words(); ++w) {
      for (int o = 0; o < kPlaces; ++o) {
        std::uint32_t& then = memory.bonded[w * kOrigins + first + o];
        std::uint32_t& still = memory.still[w * kOrigins + first + o];
        if (o == begins) then = still = bonded[w];
        still &= bonded[w];
        values[0][o] += std::popcount(then & bonded[w]);
        values[1][o] += std::popcount(still);
      }
    }
  } else {
    const bool moves = part == kDisplacement / 2;
    const int begin = moves ? kTurning : part == 0 ? 0 : part + 1;
    const int end = moves ? kTurning + 1 : part + 2;
    double* const then = memory.then + first;
    for (int row = 3 * n * begin; row < 3 * n * end && begins >= 0 && begins < kPlaces; ++row) {
      then[row * kOrigins + begins] = vectors[row];
    }
    for (int m = 3 * n * begin; m < 3 * n * end && moves; ++m) {
      for (int o = 0; o < kPlaces; ++o) {
        const double moved = vectors[m] - then[m * kOrigins + o];
        values[0][o] += moved * moved;
      }
    }
    for (int vector = begin; vector < end && !moves; ++vector) {
      double sum[kPlaces] = {}, squares[kPlaces] = {};
      for (int m = 3 * n * vector; m < n * (3 * vector + 1); ++m) {
        const double x = vectors[m], y = vectors[n + m], z = vectors[2 * n + m];
        const double* const at = then + m * kOrigins;
        for (int o = 0; o < kPlaces; ++o) {
          const double cosine = x * at[o] + y * at[n * kOrigins + o] + z * at[2 * n * kOrigins + o];
          sum[o] += cosine;
          squares[o] += cosine * cosine;
        }
      }
      for (int o = 0; o < kPlaces; ++o) {
        values[0][o] += sum[o];
        values[1][o] += 1.5 * squares[o] - 0.5 * n;
      }
    }
  }
  for (int o = 0; o < kPlaces; ++o) {
    const int lag = origins.lag[first + o];
    if (lag < 0) continue;
    double* const window = memory.windows + origins.slot[first + o] * layout.window_numbers();
    double& bonds = window[layout.window_numbers() - 1];
    const bool is_new = lag == 0 && first + o == 0;
    for (int c = 2 * part; c < 2 * part + 2 && c < kCorrelations; ++c) {
      for (int k = 0; k < lags && is_new; ++k) window[k * kCorrelations + c] = 0.0;
      window[lag * kCorrelations + c] += values[c % 2][o];
    }
    if (part == kIntermittentBond / 2 && lag == 0) bonds = (is_new ? 0.0 : bonds) + values[0][o];
  }
}
/// Number of parts of compare().
inline constexpr int kComparedParts = (kCorrelations + 1) / 2;

}  // namespace tarn::inline TARN_ARCH
