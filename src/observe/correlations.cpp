#include "correlations.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "observable.hpp"
#include "table_observer.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

using analysis::CorrelationWindow;
using analysis::kCorrelations;
using analysis::PooledBlocking;

struct Column {
  std::string_view name;
  std::string_view time;  ///< name of its integral in averages.csv; empty: no meaningful integral
};
constexpr std::array<Column, kCorrelations> kColumns{{{"oh_p1", "oh_p1_time_ps"},
                                                      {"oh_p2", "oh_p2_time_ps"},
                                                      {"hh_p1", "hh_p1_time_ps"},
                                                      {"hh_p2", "hh_p2_time_ps"},
                                                      {"dipole_p1", "dipole_p1_time_ps"},
                                                      {"dipole_p2", "dipole_p2_time_ps"},
                                                      {"bonded_again", ""},
                                                      {"bonded_still", "bond_time_ps"},
                                                      {"displacement_A2", ""}}};

/// Remainder at the longest lag above which the integral is reported as too short.
constexpr double kLittleLeft = 0.05;

class CorrelationObserver final : public ArchivedObserver {
 public:
  CorrelationObserver(const ObserveCorrelation& section, const ObserverContext& info)
      : section_(section),
        info_(info),
        correlations_(section, info.model, info.molecules, info.replicas, info.timestep_fs) {}

  std::string name() const override {
    return fmt::format("correlation every {} lags {} from step {} replicas {}", section_.every,
                       correlations_.longest(), info_.first_averaged_step,
                       selection_text(section_.replicas));
  }
  unsigned fields() const override { return correlations_.fields(); }
  void keep_in(Engine& engine) override { correlations_.keep_in(engine); }
  std::int64_t every() const override {
    return correlations_.empty() ? info_.first_sample(section_.every) : section_.every;
  }
  void observe(const Frame& frame) override {
    if (frame.step >= info_.first_averaged_step) correlations_.observe(frame, info_.threads);
  }
  void finish() override {
    io::CsvTable csv(info_.out_dir + "/correlation.csv", Correlations::header(),
                     info_.provenance + "; " + std::string(Correlations::kRemark));
    for (std::size_t lag = 0; correlations_.has_rows() && lag <= correlations_.longest(); ++lag) {
      correlations_.append_cells(lag, csv);
      csv.end_row();
    }
    csv.write();
  }
  std::vector<AveragedQuantity> averages() const override { return correlations_.times(); }
  Messages messages() const override {
    Messages messages;
    append(correlations_.warning(), messages);
    return messages;
  }

 private:
  void archive(io::Archive& a) override { a(correlations_); }

  ObserveCorrelation section_;
  ObserverContext info_;
  Correlations correlations_;
};

}  // namespace

Correlations::Correlations(const ObserveCorrelation& section, const ClusterMasses& masses,
                           int molecules, int replicas, double timestep_fs)
    : every_(section.every),
      timestep_fs_(timestep_fs),
      molecules_(static_cast<std::size_t>(molecules)),
      longest_(correlation_lags(section, timestep_fs)),
      masses_(masses),
      replicas_(section.replicas.count_of(replicas)) {
  const auto mean = PooledBlocking::of_replicas(replicas_);
  means_.fill(std::vector(longest_ + 1, mean));
  integrals_.fill(mean);
}

void Correlations::keep_in(Engine& engine) {
  take_history();
  history_.reset();
  HistoryRequest request;
  request.replicas = replicas_;
  request.longest = static_cast<int>(longest_);
  for (const auto& [id, cluster] : clusters_) samples_ = std::max(samples_, cluster.samples());
  // Stopped replicas have fewer samples.
  for (auto& [id, cluster] : clusters_) {
    if (cluster.samples() == samples_) request.memory.emplace(id, cluster.bytes());
  }
  history_ = engine.keep_history(request);
  if (history_) clusters_.clear();
}

void Correlations::take_history() {
  if (!history_ || samples_ == 0) return;
  for (auto& [id, bytes] : history_->memory()) {
    clusters_.emplace(id, new_cluster()).first->second.take(std::move(bytes), samples_);
  }
}

void Correlations::observe(const Frame& frame, int threads) {
  struct Task {
    std::size_t replica;
    analysis::TimeCorrelation* cluster;
  };
  std::vector<Task> tasks;
  for (std::size_t r = 0; r < frame.live() && !history_; ++r) {
    const std::int64_t id = frame.replica_ids[r];
    if (id >= replicas_) continue;
    auto cluster = clusters_.find(id);
    if (cluster == clusters_.end()) cluster = clusters_.emplace(id, new_cluster()).first;
    tasks.push_back({r, &cluster->second});
  }
  std::vector<std::optional<CorrelationWindow>> whole(tasks.size());
  for_each_index(static_cast<std::int64_t>(tasks.size()), threads, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    whole[at] = tasks[at].cluster->add(frame.positions_A_of(tasks[at].replica));
  });
  const std::size_t series = PooledBlocking::series_of_replicas(replicas_);
  std::vector<std::vector<const CorrelationWindow*>> windows(series);
  std::map<std::int64_t, CorrelationWindow> by_engine;
  if (history_) {
    const CorrelationLayout layout{static_cast<int>(molecules_), static_cast<int>(longest_)};
    for (const auto& [id, numbers] : history_->sample(samples_++)) {
      by_engine[id] = analysis::TimeCorrelation::window(layout, numbers);
    }
  }
  for (const auto& [id, window] : by_engine) windows[sample_group(id, series)].push_back(&window);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!whole[i]) continue;
    windows[sample_group(frame.replica_ids[tasks[i].replica], series)].push_back(&*whole[i]);
  }
  for (std::size_t s = 0; s < series; ++s) {
    if (!windows[s].empty()) add(s, windows[s]);
  }
}

void Correlations::add(std::size_t series, const std::vector<const CorrelationWindow*>& windows) {
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    double count = 0.0;
    for (const CorrelationWindow* window : windows) {
      count += window->count(c);
      windows_[c] += window->count(c) > 0.0 ? 1 : 0;
    }
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
}

std::vector<AveragedQuantity> Correlations::times() const {
  std::vector<AveragedQuantity> all;
  const double window_ps = lag_ps(analysis::TimeCorrelation::window_samples(longest_));
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    if (kColumns[c].time.empty() || !(integrals_[c].samples() > 0.0)) continue;
    const analysis::Blocking mean = integrals_[c].result();
    AveragedQuantity& a =
        all.emplace_back(AveragedQuantity{"correlation", std::string(kColumns[c].time),
                                          lag_ps(1) * mean.mean, lag_ps(1) * mean.error});
    a.autocorrelation_ps = mean.autocorrelation_time * window_ps;
    a.independent_samples = static_cast<double>(windows_[c]) / (2.0 * mean.autocorrelation_time);
    a.samples = windows_[c];
    if (mean.error_of_error > 0.0) a.error_of_error = lag_ps(1) * mean.error_of_error;
    a.converged = mean.converged;
  }
  return all;
}

std::vector<std::string> Correlations::names_of_times() {
  std::vector<std::string> names;
  for (const Column& column : kColumns) {
    if (!column.time.empty()) names.emplace_back(column.time);
  }
  return names;
}

std::optional<Message> Correlations::warning() const {
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < kCorrelations; ++c) {
    if (kColumns[c].time.empty() || !(integrals_[c].samples() > 0.0)) continue;
    const analysis::Blocking at_the_end = means_[c][longest_].result();
    const double left = at_the_end.mean;
    if (left - 2.0 * at_the_end.error <= kLittleLeft) continue;
    columns.push_back(fmt::format("{} {:.2g}", kColumns[c].name, left));
  }
  if (columns.empty()) return std::nullopt;
  return Message::warning(fmt::format(
      "correlation: not decayed at {:g} ps: {}. Correlation times are integrals up to this lag, "
      "too short by at least these fractions (meaningless without decay to 0); increase "
      "[observe.correlation] length_ps",
      lag_ps(longest_), fmt::join(columns, ", ")));
}

std::vector<std::string> Correlations::header() {
  std::vector<std::string> header{"time_ps"};
  for (const Column& column : kColumns) {
    header.emplace_back(column.name);
    header.push_back(fmt::format("{}_err", column.name));
  }
  return header;
}

void Correlations::append_cells(std::size_t lag, io::CsvFormat& csv) const {
  csv.cell(lag_ps(lag));
  for (const std::vector<PooledBlocking>& means : means_) {
    const bool known = means[lag].samples() > 0.0;
    const analysis::Blocking mean = means[lag].result();
    csv.cells_or_nan(known ? mean.mean : kNoNumber, known ? mean.error : kNoNumber);
  }
}

Observable correlation_observable() {
  return observable(&Deck::correlation, construct<CorrelationObserver>, {"correlation.*"},
                    "; of the centroids");
}

}  // namespace tarn
