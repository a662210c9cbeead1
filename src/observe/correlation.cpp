#include "tarn/analysis/correlation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "makers.hpp"
#include "replica_table.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

using analysis::CorrelationWindow;
using analysis::kCorrelations;
using analysis::PooledBlocking;

struct CorrelationColumn {
  std::string_view column;
  std::string_view time;  ///< of its integral, in averages.csv; empty: it has none that means much
};
constexpr std::array<CorrelationColumn, kCorrelations> kColumns{{{"oh_p1", "oh_p1_time_ps"},
                                                                 {"oh_p2", "oh_p2_time_ps"},
                                                                 {"hh_p1", "hh_p1_time_ps"},
                                                                 {"hh_p2", "hh_p2_time_ps"},
                                                                 {"dipole_p1", "dipole_p1_time_ps"},
                                                                 {"dipole_p2", "dipole_p2_time_ps"},
                                                                 {"bonded_again", ""},
                                                                 {"bonded_still", "bond_time_ps"},
                                                                 {"displacement_A2", ""}}};

/// The integral of a correlation up to the longest lag is too short by about what is left there.
constexpr double kLittleLeft = 0.05;

/// Follows each replica, and averages over the windows that are whole.
class CorrelationObserver final : public Observer {
 public:
  CorrelationObserver(const ObserveCorrelation& section, const Deck& deck, const RunInfo& info)
      : section_(section),
        info_(info),
        model_(water_model(deck)),
        longest_(correlation_lags(section, info.timestep_fs)),
        replicas_(section.replicas.of(info.replicas)) {
    const auto mean = PooledBlocking::of_replicas(replicas_);
    means_.fill(std::vector(longest_ + 1, mean));
    integrals_.fill(mean);
  }

  std::string name() const override {
    return fmt::format("correlation every {} lags {} from step {} replicas {}", section_.every,
                       longest_, info_.first_averaged_step, selection_text(section_.replicas));
  }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override { return clusters_.empty() ? first_step() : section_.every; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override;
  std::vector<AveragedQuantity> averages() const override;
  std::vector<std::string> notes() const override;
  Pictures draw() override { return draw_correlation(info_.out_dir); }

 private:
  /// The first sample.
  std::int64_t first_step() const {
    const std::int64_t intervals =
        (info_.first_averaged_step + section_.every - 1) / section_.every;
    return std::max<std::int64_t>(intervals, 1) * section_.every;
  }
  double lag_ps(std::size_t lag) const {
    return info_.time_ps(static_cast<std::int64_t>(lag) * section_.every);
  }
  analysis::TimeCorrelation new_cluster() const {
    return {static_cast<std::size_t>(info_.molecules), model_.mass_o_Da, model_.mass_h_Da,
            longest_};
  }
  /// The whole windows of replicas of one series, as its next value.
  void add(std::size_t series, const std::vector<const CorrelationWindow*>& windows);

  ObserveCorrelation section_;
  RunInfo info_;
  WaterModel model_;
  std::size_t longest_;
  int replicas_;

  std::map<std::int64_t, analysis::TimeCorrelation> clusters_;  // by replica id
  std::int64_t windows_ = 0;                                    // of all replicas
  std::array<std::vector<PooledBlocking>, kCorrelations> means_;
  std::array<PooledBlocking, kCorrelations> integrals_;  // in sampling intervals
};

void CorrelationObserver::observe(const Frame& frame) {
  if (frame.step < info_.first_averaged_step) return;
  struct Task {
    std::size_t replica;
    analysis::TimeCorrelation* cluster;
  };
  std::vector<Task> tasks;
  for (std::size_t r = 0; r < frame.live(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    if (id >= replicas_) continue;
    tasks.push_back({r, &clusters_.try_emplace(id, new_cluster()).first->second});
  }
  std::vector<std::optional<CorrelationWindow>> whole(tasks.size());
  for_each_index(static_cast<std::int64_t>(tasks.size()), info_.threads, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    whole[at] = tasks[at].cluster->add(frame.positions_A_of(tasks[at].replica));
  });
  const std::size_t series = PooledBlocking::series_of_replicas(replicas_);
  std::vector<std::vector<const CorrelationWindow*>> windows(series);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!whole[i]) continue;
    const auto id = static_cast<std::size_t>(frame.replica_ids[tasks[i].replica]);
    windows[id % series].push_back(&*whole[i]);
  }
  for (std::size_t s = 0; s < series; ++s) {
    if (!windows[s].empty()) add(s, windows[s]);
  }
}

void CorrelationObserver::add(std::size_t series,
                              const std::vector<const CorrelationWindow*>& windows) {
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    double count = 0.0;
    for (const CorrelationWindow* window : windows) count += window->count(c);
    if (count == 0.0) continue;  // no bond at any origin
    double integral = 0.0;
    for (std::size_t lag = 0; lag <= longest_; ++lag) {
      double sum = 0.0;
      for (const CorrelationWindow* window : windows) sum += window->sums[c][lag];
      means_[c][lag].add(series, sum, count);
      integral += (lag == 0 || lag == longest_ ? 0.5 : 1.0) * sum;
    }
    integrals_[c].add(series, integral, count);
  }
  windows_ += static_cast<std::int64_t>(windows.size());
}

void CorrelationObserver::save(std::ostream& out) {
  io::put(out, windows_);
  io::put(out, static_cast<std::uint64_t>(clusters_.size()));
  for (const auto& [id, cluster] : clusters_) {
    io::put(out, id);
    io::put(out, std::span<const double>(cluster.memory()));
  }
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    for (const PooledBlocking& mean : means_[c]) {
      io::put(out, std::span<const double>(mean.memory()));
    }
    io::put(out, std::span<const double>(integrals_[c].memory()));
  }
}

void CorrelationObserver::load(std::istream& in) {
  windows_ = io::get_i64(in);
  clusters_.clear();
  for (std::uint64_t left = io::get_u64(in); left > 0; --left) {
    const std::int64_t id = io::get_i64(in);
    clusters_.try_emplace(id, new_cluster()).first->second.restore(io::get_doubles(in));
  }
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    for (PooledBlocking& mean : means_[c]) mean.restore(io::get_doubles(in));
    integrals_[c].restore(io::get_doubles(in));
  }
}

void CorrelationObserver::finish() {
  const std::string path = info_.out_dir + "/correlation.csv";
  std::vector<std::string> header{"time_ps"};
  for (const CorrelationColumn& column : kColumns) {
    header.emplace_back(column.column);
    header.push_back(fmt::format("{}_err", column.column));
  }
  io::CsvFormat csv(path, header);
  std::string text = csv.head(
      info_.provenance +
      "; how molecules turn, hydrogen bonds last and oxygens move, equations (68) to (70); error = "
      "standard error by blocking (0: not known)");
  for (std::size_t lag = 0; windows_ > 0 && lag <= longest_; ++lag) {
    csv.cell(lag_ps(lag));
    for (const std::vector<PooledBlocking>& means : means_) {
      const bool known = means[lag].samples() > 0.0;
      const analysis::Blocking mean = means[lag].result();
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      csv.cell_or_nan(known ? mean.mean : unknown).cell_or_nan(known ? mean.error : unknown);
    }
    text += csv.row();
  }
  io::write_file(path, text);
}

std::vector<AveragedQuantity> CorrelationObserver::averages() const {
  std::vector<AveragedQuantity> all;
  const double window_ps = lag_ps(analysis::TimeCorrelation::window_samples(longest_));
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    if (kColumns[c].time.empty() || !(integrals_[c].samples() > 0.0)) continue;
    const analysis::Blocking mean = integrals_[c].result();
    AveragedQuantity& a =
        all.emplace_back(AveragedQuantity{"correlation", std::string(kColumns[c].time),
                                          lag_ps(1) * mean.mean, lag_ps(1) * mean.error});
    a.autocorrelation_ps = mean.autocorrelation_time * window_ps;
    a.independent_samples = static_cast<double>(windows_) / (2.0 * mean.autocorrelation_time);
    a.samples = windows_;
    if (mean.error_of_error > 0.0) a.error_of_error = lag_ps(1) * mean.error_of_error;
    a.converged = mean.converged;
  }
  return all;
}

std::vector<std::string> CorrelationObserver::notes() const {
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    if (kColumns[c].time.empty() || !(integrals_[c].samples() > 0.0)) continue;
    const double left = means_[c][longest_].result().mean;
    if (left > kLittleLeft) columns.push_back(fmt::format("{} {:.2g}", kColumns[c].column, left));
  }
  if (columns.empty()) return {};
  return {fmt::format(
      "correlation: after {:g} ps there is still left of {}: times are integrals up to there, and "
      "too short by about these shares or more; a longer correlation has more of them",
      lag_ps(longest_), fmt::join(columns, ", "))};
}

}  // namespace

std::unique_ptr<Observer> make_correlation(const ObserveCorrelation& section, const Deck& deck,
                                           const RunInfo& info) {
  return std::make_unique<CorrelationObserver>(section, deck, info);
}

}  // namespace tarn
