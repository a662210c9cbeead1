#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/correlation.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observer.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn {

/// Means of time correlation functions over replicas and windows, with errors by blocking.
class Correlations {
 public:
  /// @param replicas of the run, of which those that the section chooses are followed
  /// @param timestep_fs of which a sample comes each `section.every`
  Correlations(const ObserveCorrelation& section, const WaterModel& model, int molecules,
               int replicas, double timestep_fs);

  /// Nobody has been seen yet.
  bool empty() const { return clusters_.empty(); }
  /// The next sample of the replicas in the frame, which has positions. @param threads see
  /// for_each_index()
  void observe(const Frame& frame, int threads);

  std::size_t longest() const { return longest_; }
  /// The integrals up to the longest lag, as averages of the table `correlation`.
  std::vector<AveragedQuantity> times() const;
  /// All that there can be of them.
  static std::vector<std::string> names_of_times();
  /// What is left of correlations at the longest lag, where it is much.
  std::optional<std::string> note() const;

  /// What the first line of a table tells of the columns.
  static constexpr std::string_view kRemark =
      "how molecules turn, hydrogen bonds last and oxygens move, equations (68) to (70); error = "
      "standard error by blocking (0: not known)";
  /// time_ps, oh_p1, oh_p1_err and so on.
  static std::vector<std::string> header();
  /// The cells of a row; there are rows as soon as a window is whole.
  bool has_rows() const { return windows_[analysis::kOhP1] > 0; }
  void append_cells(std::size_t lag, io::CsvFormat& csv) const;

  void save(std::ostream& out) const;
  /// @throws LayoutError for what is no save() of these
  void load(std::istream& in);

 private:
  double lag_ps(std::size_t lag) const {
    return static_cast<double>(static_cast<std::int64_t>(lag) * every_) * timestep_fs_ / 1000.0;
  }
  analysis::TimeCorrelation new_cluster() const {
    return {molecules_, mass_o_Da_, mass_h_Da_, longest_};
  }
  /// The whole windows of replicas of one series, as its next value.
  void add(std::size_t series, const std::vector<const analysis::CorrelationWindow*>& windows);

  std::int64_t every_;
  double timestep_fs_;
  std::size_t molecules_, longest_;
  double mass_o_Da_, mass_h_Da_;
  int replicas_;
  std::map<std::int64_t, analysis::TimeCorrelation> clusters_;  // by replica id
  // Of all replicas, those with something to count: bonds need not be there.
  std::array<std::int64_t, analysis::kCorrelations> windows_{};
  std::array<std::vector<analysis::PooledBlocking>, analysis::kCorrelations> means_;  // [lag]
  std::array<analysis::PooledBlocking, analysis::kCorrelations> integrals_;  // in intervals
};

}  // namespace tarn
