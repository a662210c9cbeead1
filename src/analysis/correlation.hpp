#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "physics/time_correlation.hpp"
#include "tarn/physics/parameters.hpp"

/// @file
/// Time correlation functions of one cluster, equations (68) to (70).

namespace tarn::analysis {

using enum Correlation;
using tarn::Correlation;
using tarn::kCorrelations;
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
/// Memory: 15 kOrigins numbers per molecule, 2 kOrigins bits per pair of molecules, and 2
/// kCorrelations numbers per lag.
class TimeCorrelation {
 public:
  static constexpr std::size_t kOrigins = tarn::kOrigins;

  /// @param molecules of the cluster
  /// @param masses displacements are relative to the centre of mass
  /// @param longest the longest lag in samples, at least 1
  TimeCorrelation(std::size_t molecules, ClusterMasses masses, std::size_t longest);

  /// Samples between two origins.
  static constexpr std::size_t spacing(std::size_t longest) {
    return static_cast<std::size_t>(CorrelationLayout{1, static_cast<int>(longest)}.spacing());
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

  std::int64_t samples() const { return samples_; }
  /// The memory() of a History of this cluster, after as many samples.
  std::vector<std::byte>& bytes() { return bytes_; }
  void take(std::vector<std::byte> bytes, std::int64_t samples) {
    bytes_ = std::move(bytes);
    samples_ = samples;
  }
  /// @param numbers of a CorrelationLayout
  static CorrelationWindow window(const CorrelationLayout& layout, std::span<const double> numbers);

  /// The state for a checkpoint.
  void archive(Memory& m);
  std::vector<double> memory() const { return memory_of(*this); }
  void restore(std::span<const double> memory) { restore_from(memory, *this); }

 private:
  /// Allocates it, unless that was done.
  CorrelationMemory parts() {
    bytes_.resize(layout_.bytes());
    return layout_.parts(bytes_.data());
  }
  void archive_pairs(Memory& m, std::uint32_t* words);

  CorrelationLayout layout_;
  ClusterMasses masses_;
  double share_o_, share_h_;  // mass fraction of an atom in its molecule, without isotopes
  std::int64_t samples_ = 0;
  std::vector<std::byte> bytes_;  // see CorrelationLayout
};

/// Count of the numbers stored for the time correlation of `followed` replicas with `samples`
/// samples each, including the sums for the error of each lag (PooledBlocking).
/// @param replicas of the run, including those not followed
double correlation_numbers(double molecules, int followed, int replicas, std::size_t longest,
                           double samples);
/// Largest permitted count: 8 bytes per number, in memory and in every checkpoint.
inline constexpr double kMaxCorrelationNumbers = 1e8;

}  // namespace tarn::analysis
