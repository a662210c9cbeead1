#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "memory.hpp"
#include "tarn/physics/parameters.hpp"

/// @file
/// Time correlation functions of one cluster, equations (68) to (70).

namespace tarn::analysis {

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
inline constexpr std::size_t kCorrelations = 9;
constexpr bool is_bond_correlation(std::size_t correlation) {
  return correlation == kIntermittentBond || correlation == kContinuousBond;
}

/// Sums over the time origins of a window and the molecules, or pairs of molecules, of a cluster.
struct CorrelationWindow {
  std::array<std::vector<double>, kCorrelations> sums;  ///< [lag]
  /// Number of terms in each sum, the same for all lags; sum / count is the mean. 0 for the bond
  /// correlations of a window without bonds.
  double count(std::size_t correlation) const;

  double molecules = 0.0, bonds = 0.0;  ///< summed over all origins
};

/// Time correlation of one cluster, sample by sample. A window has kOrigins evenly spaced time
/// origins. Each is compared with all samples up to the longest lag, so all lags have the same
/// number of terms.
///
/// Memory: about 15 kOrigins numbers per molecule and 2 kCorrelations numbers per lag.
class TimeCorrelation {
 public:
  static constexpr std::size_t kOrigins = 16;

  /// @param molecules of the cluster
  /// @param masses displacements are relative to the centre of mass
  /// @param longest the longest lag in samples, at least 1
  TimeCorrelation(std::size_t molecules, ClusterMasses masses, std::size_t longest);

  /// Samples between two origins.
  static constexpr std::size_t spacing(std::size_t longest) {
    return (longest + kOrigins - 1) / kOrigins;
  }
  /// Samples between the beginnings of two windows.
  static constexpr std::size_t window_samples(std::size_t longest) {
    return kOrigins * spacing(longest);
  }
  /// Samples from the beginning of a window to its completion.
  static constexpr std::size_t samples_to_first_window(std::size_t longest) {
    return window_samples(longest) - spacing(longest) + longest + 1;
  }
  /// Length of memory() for four hydrogen bonds per molecule, a number that is rarely exceeded.
  static double typical_numbers(double molecules, double longest);

  /// @param positions_A [molecule][9], atoms O H H
  /// @return the window that this sample completes, if any
  std::optional<CorrelationWindow> add(std::span<const double> positions_A);

  /// The state for a checkpoint.
  void archive(Memory& m);
  std::vector<double> memory() const { return memory_of(*this); }
  void restore(std::span<const double> memory) { restore_from(memory, *this); }

 private:
  /// The four unit vectors of equation (68), O-H1, O-H2, H-H and dipole, and the oxygen relative to
  /// the centre of mass: [vector, component][molecule], kVectors * 3 rows.
  static constexpr std::size_t kTurning = 4, kVectors = kTurning + 1;
  struct Configuration {
    std::vector<double> vectors;
    std::vector<std::int64_t> bonded;  ///< pairs i < j as i N + j, sorted
  };
  struct Origin {
    std::int64_t born;                 ///< sample
    std::vector<std::int64_t> bonded;  ///< pairs
    std::vector<std::int64_t> still;   ///< those bonded at all samples since
  };

  Configuration configuration(std::span<const double> positions_A) const;
  /// Adds the correlations of a configuration with the origins from number `first` on.
  void compare(const Configuration& now, std::size_t first);
  CorrelationWindow empty_window() const;
  std::int64_t window_of(const Origin& origin) const {
    return origin.born / static_cast<std::int64_t>(window_samples(longest_));
  }

  /// Its number in then_.
  std::size_t place_of(const Origin& origin) const {
    return static_cast<std::size_t>(origin.born) / spacing(longest_) % kOrigins;
  }

  std::size_t molecules_, longest_;
  ClusterMasses masses_;
  double share_o_, share_h_;  // mass fraction of an atom in its molecule, without isotopes
  std::int64_t samples_ = 0;
  std::int64_t first_window_ = 0;          // number of windows_.front()
  std::deque<Origin> origins_;             // the oldest first
  std::vector<double> then_;               // vectors of the origins, [row][place_of(origin)]
  std::vector<bool> is_bonded_;            // by pair; all false but within compare()
  std::deque<CorrelationWindow> windows_;  // those not complete
};

/// Count of the numbers stored for the time correlation of `followed` replicas with `samples`
/// samples each, including the sums for the error of each lag (PooledBlocking).
/// @param replicas of the run, including those not followed
double correlation_numbers(double molecules, int followed, int replicas, std::size_t longest,
                           double samples);
/// Largest permitted count: 8 bytes per number, in memory and in every checkpoint.
inline constexpr double kMaxCorrelationNumbers = 1e8;

}  // namespace tarn::analysis
