#include "table_observer.hpp"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "tarn/io/binary.hpp"

namespace tarn {

TableObserver::TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                             const RunInfo& info)
    : spec_(std::move(spec)),
      every_(every),
      replicas_(replicas),
      info_(info),
      table_(fmt::format("{}/{}.csv", info.out_dir, spec_.file), spec_.columns, replicas),
      averages_(spec_.averaged_columns, analysis::PooledBlocking::of_replicas(info.replicas)),
      results_(spec_.result_columns) {}

std::string TableObserver::name() const {
  return fmt::format("{} every {} replicas {}", spec_.file, every_, selection_text(replicas_));
}

void TableObserver::observe(const Frame& frame) {
  std::vector<double> values;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) spec_.append_values(frame, r, values);
  table_.write(frame, info_.time_ps(frame.step), values);
  if (frame.step >= info_.first_averaged_step && !frame.replica_ids.empty()) {
    average(frame, values);
  }
}

void TableObserver::average(const Frame& frame, const std::vector<double>& values) {
  std::vector<double> column(frame.replica_ids.size());
  for (std::size_t c = 0; c < averages_.size() + results_.size(); ++c) {
    for (std::size_t r = 0; r < column.size(); ++r) {
      column[r] = values[r * spec_.columns.size() + c];
    }
    if (c < averages_.size()) {
      averages_[c].add_replicas(frame.replica_ids, column);
    } else {
      results_[c - averages_.size()] = analysis::mean_and_error(column);
    }
  }
  result_replicas_ = static_cast<std::int64_t>(column.size());
}

std::vector<AveragedQuantity> TableObserver::averages() const {
  std::vector<AveragedQuantity> all;
  if (result_replicas_ == 0) return all;
  for (std::size_t c = 0; c < averages_.size(); ++c) all.push_back(average_of(c));
  for (std::size_t c = 0; c < results_.size(); ++c) all.push_back(result_of(c));
  return all;
}

AveragedQuantity TableObserver::average_of(std::size_t column) const {
  const analysis::Blocking b = averages_[column].result();
  const double samples = averages_[column].samples();
  AveragedQuantity a{spec_.file, spec_.columns[column], b.mean, b.error};
  a.autocorrelation_ps = b.autocorrelation_time * info_.time_ps(every_);
  a.independent_samples = samples / (2.0 * b.autocorrelation_time);
  a.samples = static_cast<std::int64_t>(samples);
  a.converged = b.converged;
  return a;
}

AveragedQuantity TableObserver::result_of(std::size_t column) const {
  const analysis::MeanError& result = results_[column];
  AveragedQuantity a{spec_.file, spec_.columns[averages_.size() + column], result.mean,
                     result.error};
  a.independent_samples = static_cast<double>(result_replicas_);
  a.samples = result_replicas_;
  return a;
}

void TableObserver::save(std::ostream& out) {
  table_.sync();
  io::put(out, table_.length());
  for (const analysis::PooledBlocking& average : averages_) {
    io::put(out, std::span<const double>(average.memory()));
  }
  for (const analysis::MeanError& result : results_) {
    io::put(out, result.mean);
    io::put(out, result.error);
  }
  io::put(out, result_replicas_);
  if (spec_.save) spec_.save(out);
}

void TableObserver::load(std::istream& in) {
  table_.cut(io::get_u64(in));
  for (analysis::PooledBlocking& average : averages_) average.restore(io::get_doubles(in));
  for (analysis::MeanError& result : results_) {
    result.mean = io::get_double(in);
    result.error = io::get_double(in);
  }
  result_replicas_ = io::get_i64(in);
  if (spec_.load) spec_.load(in);
}

}  // namespace tarn
