#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blocking.hpp"
#include "analysis/correlation.hpp"
#include "io/archive.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observer.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn {

/// Means of time correlation functions over replicas and windows, with errors by blocking.
class Correlations {
 public:
  /// @param replicas number in the run; the section selects the ones to follow
  /// @param timestep_fs time step; samples are `section.every` steps apart
  Correlations(const ObserveCorrelation& section, const ClusterMasses& masses, int molecules,
               int replicas, double timestep_fs);

  /// Whether there are no samples yet.
  bool empty() const { return clusters_.empty() && samples_ == 0; }
  void keep_in(Engine& engine);
  /// Fields of observe().
  unsigned fields() const { return history_ ? kNoFields : kPositions; }
  /// Adds the positions of the frame, or those in the history, as the next sample.
  /// @param threads see for_each_index()
  void observe(const Frame& frame, int threads);

  std::size_t longest() const { return longest_; }
  /// The integrals up to the longest lag, as averages of the table `correlation`.
  std::vector<AveragedQuantity> times() const;
  /// Names of all possible correlation times.
  static std::vector<std::string> names_of_times();
  /// Warning for correlations that have not decayed at the longest lag.
  std::optional<Message> warning() const;

  /// Description of the columns for the first line of a table.
  static constexpr std::string_view kRemark =
      "time correlation functions of orientations and hydrogen bonds, and mean squared "
      "displacement of oxygens, equations (68) to (70); _err = standard error by blocking (0: "
      "unknown)";
  /// time_ps, oh_p1, oh_p1_err and so on.
  static std::vector<std::string> header();
  /// Whether a window is complete; then there are rows, one per lag.
  bool has_rows() const { return windows_[analysis::kOhP1] > 0; }
  void append_cells(std::size_t lag, io::CsvFormat& csv) const;

  /// @throws LayoutError if the data do not match
  void archive(io::Archive& a) {
    a.fixed(windows_);
    take_history();
    a.map(clusters_, [this] { return new_cluster(); });
    if (history_) clusters_.clear();
    for (std::size_t c = 0; c < analysis::kCorrelations; ++c) {
      a.fixed(means_[c]);
      a(integrals_[c]);
    }
  }

 private:
  double lag_ps(std::size_t lag) const {
    return static_cast<double>(static_cast<std::int64_t>(lag) * every_) * timestep_fs_ / 1000.0;
  }
  analysis::TimeCorrelation new_cluster() const { return {molecules_, masses_, longest_}; }
  /// Fills the clusters, for a checkpoint.
  void take_history();
  /// Adds the complete windows of the replicas of a series as its next value.
  void add(std::size_t series, const std::vector<const analysis::CorrelationWindow*>& windows);

  std::int64_t every_;
  double timestep_fs_;
  std::size_t molecules_, longest_;
  ClusterMasses masses_;
  int replicas_;
  std::map<std::int64_t, analysis::TimeCorrelation> clusters_;  // by replica id
  std::unique_ptr<History> history_;                            // in place of the clusters
  std::int64_t samples_ = 0;                                    // in the history
  // Number of windows of all replicas with data; a window may have no bonds.
  std::array<std::int64_t, analysis::kCorrelations> windows_{};
  std::array<std::vector<analysis::PooledBlocking>, analysis::kCorrelations> means_;  // [lag]
  std::array<analysis::PooledBlocking, analysis::kCorrelations> integrals_;  // in intervals
};

}  // namespace tarn
