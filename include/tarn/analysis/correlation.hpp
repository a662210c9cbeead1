#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

/// @file
/// Time correlation functions of one cluster, equations (68) to (70).

namespace tarn::analysis {

/// What is followed: how the O-H bonds, the H-H vectors and the dipoles of the molecules turn, by
/// the Legendre polynomials of first and second order, equation (68); pairs of molecules that are
/// bonded again, or still, equation (69); and how far oxygens are from where they were, equation
/// (70).
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

/// Sums over the origins of a window and the molecules, or pairs of them, of a cluster.
struct CorrelationWindow {
  std::array<std::vector<double>, kCorrelations> sums;  ///< [lag]
  /// How many there are at each lag: means are sums by it. Of bonds 0 where there was none.
  double count(std::size_t correlation) const;

  double molecules = 0.0, bonds = 0.0;  ///< of all origins
};

/// Follows one cluster sample by sample. Origins are evenly spaced, kOrigins of them a window, and
/// each is held against all samples up to the longest lag: every lag has as many.
///
/// Memory: kOrigins times some 15 numbers a molecule, and twice kCorrelations numbers a lag.
class TimeCorrelation {
 public:
  static constexpr std::size_t kOrigins = 16;

  /// @param molecules of the cluster
  /// @param mass_o_Da, mass_h_Da of its atoms: displacements are from the centre of mass
  /// @param longest lag, in samples, 1 or more
  TimeCorrelation(std::size_t molecules, double mass_o_Da, double mass_h_Da, std::size_t longest);

  /// Samples from an origin to the next.
  static constexpr std::size_t spacing(std::size_t longest) {
    return (longest + kOrigins - 1) / kOrigins;
  }
  /// Samples from the beginning of a window to that of the next.
  static constexpr std::size_t window_samples(std::size_t longest) {
    return kOrigins * spacing(longest);
  }
  /// From the first of a window to the one that completes it.
  static constexpr std::size_t samples_to_first_window(std::size_t longest) {
    return window_samples(longest) - spacing(longest) + longest + 1;
  }
  /// Numbers of memory() where each molecule is bonded to four others; there are hardly ever more.
  static double typical_numbers(double molecules, double longest);

  /// @param positions_A [molecule][9], atoms O H H
  /// @return the window that the sample completes, if there is one
  std::optional<CorrelationWindow> add(std::span<const double> positions_A);

  /// All that it remembers, for a checkpoint.
  std::vector<double> memory() const;
  /// @throws LayoutError for what is no memory() of as many molecules and lags
  void restore(std::span<const double> memory);

 private:
  /// The unit vectors of equation (68), O-H twice, H-H and dipole, and the oxygen from the centre
  /// of mass, by component: [kVectors * 3][molecule].
  static constexpr std::size_t kTurning = 4, kVectors = kTurning + 1;
  struct Configuration {
    std::vector<double> vectors;
    std::vector<std::int64_t> bonded;  ///< pairs i < j as i N + j, in order
  };
  struct Origin {
    std::int64_t born;  ///< sample
    Configuration at;
    std::vector<std::int64_t> still;  ///< of the bonded pairs
  };

  Configuration configuration(std::span<const double> positions_A) const;
  /// Adds what is `lag` after an origin to its window.
  void compare(const Configuration& now, std::size_t lag, Origin& origin,
               CorrelationWindow& window) const;
  CorrelationWindow empty_window() const;
  std::int64_t window_of(const Origin& origin) const {
    return origin.born / static_cast<std::int64_t>(window_samples(longest_));
  }

  std::size_t molecules_, longest_;
  double share_o_, share_h_;  // of an atom in the mass of its molecule
  std::int64_t samples_ = 0;
  std::int64_t first_window_ = 0;          // number of windows_.front()
  std::deque<Origin> origins_;             // the oldest first
  std::deque<CorrelationWindow> windows_;  // those that have origins
};

/// Numbers of so many replicas that are followed, with so many samples each, and of the sums behind
/// error bars of each lag (PooledBlocking).
/// @param replicas of which those are some
double correlation_numbers(double molecules, int followed, int replicas, std::size_t longest,
                           double samples);
/// At most so many are allowed: 8 bytes each, in every checkpoint too.
inline constexpr double kMaxCorrelationNumbers = 1e8;

}  // namespace tarn::analysis
