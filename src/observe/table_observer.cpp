#include "table_observer.hpp"

#include <algorithm>
#include <cmath>
#include <set>
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
      table_(fmt::format("{}/{}.csv", info.out_dir, spec_.file), spec_.columns, replicas,
             {spec_.averaged_columns, spec_.averaged_columns + spec_.result_columns}) {
  if (has_several_baths(info.baths_K)) {
    for (const double bath_K : std::set(info.baths_K.begin(), info.baths_K.end())) {
      baths_.push_back({bath_K});
    }
  } else {
    baths_.push_back({std::nullopt});
  }
  for (Bath& bath : baths_) {
    int replicas_of_it = 0;
    for (int r = 0; r < info.replicas; ++r) replicas_of_it += is_of(bath, r);
    bath.averages.assign(spec_.averaged_columns,
                         analysis::PooledBlocking::of_replicas(replicas_of_it));
    bath.fluctuation = analysis::PooledVariance::of_replicas(replicas_of_it);
    bath.results.resize(spec_.result_columns);
  }
}

std::string TableObserver::name() const {
  return fmt::format("{} every {} replicas {}", spec_.file, every_, selection_text(replicas_));
}

void TableObserver::observe(const Frame& frame) {
  std::vector<double> values;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) spec_.append_values(frame, r, values);
  table_.write(frame, info_.time_ps(frame.step), values);
  if (frame.step < std::max(info_.first_averaged_step, spec_.first_result_step)) return;
  for (Bath& bath : baths_) average(frame, values, bath);
}

bool TableObserver::is_of(const Bath& bath, std::int64_t replica_id) const {
  if (!bath.temperature_K) return true;
  const auto place = static_cast<std::size_t>(replica_id) % info_.baths_K.size();
  return info_.baths_K[place] == *bath.temperature_K;
}

std::int64_t TableObserver::place_in(const Bath& bath, std::int64_t replica_id) const {
  if (!bath.temperature_K) return replica_id;
  const auto length = static_cast<std::int64_t>(info_.baths_K.size());
  const auto in_first = [&](std::int64_t n) {
    return std::count(info_.baths_K.begin(), info_.baths_K.begin() + n, *bath.temperature_K);
  };
  return replica_id / length * in_first(length) + in_first(replica_id % length);
}

double TableObserver::temperature_K(const Bath& bath) const {
  if (bath.temperature_K) return *bath.temperature_K;
  return info_.baths_K.empty() ? 0.0 : info_.baths_K.front();
}

bool TableObserver::fluctuates(const Bath& bath) const {
  return spec_.fluctuation && temperature_K(bath) > 0.0;
}

void TableObserver::average(const Frame& frame, const std::vector<double>& values,
                            Bath& bath) const {
  std::vector<std::int64_t> ids;
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    if (!is_of(bath, frame.replica_ids[r])) continue;
    ids.push_back(place_in(bath, frame.replica_ids[r]));
    rows.push_back(r);
  }
  if (rows.empty()) return;
  std::vector<double> column(rows.size());
  for (std::size_t c = 0; c < bath.averages.size() + bath.results.size(); ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      column[i] = values[rows[i] * spec_.columns.size() + c];
    }
    if (c < bath.averages.size()) {
      bath.averages[c].add_replicas(ids, column);
    } else {
      bath.results[c - bath.averages.size()] = analysis::mean_and_error(column);
    }
  }
  if (fluctuates(bath)) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      column[i] = spec_.fluctuation->value(frame, rows[i]);
    }
    bath.fluctuation.add_replicas(ids, column);
  }
  bath.result_replicas = static_cast<std::int64_t>(rows.size());
}

std::vector<AveragedQuantity> TableObserver::averages() const {
  std::vector<AveragedQuantity> all;
  for (const Bath& bath : baths_) {
    if (bath.result_replicas == 0) continue;
    for (std::size_t c = 0; c < bath.averages.size(); ++c) {
      const analysis::PooledBlocking& average = bath.averages[c];
      all.push_back(average_of(average.result(), average.samples(), spec_.columns[c], bath));
    }
    if (fluctuates(bath)) all.push_back(fluctuation_of(bath));
    for (std::size_t c = 0; c < bath.results.size(); ++c) {
      if (!std::isnan(bath.results[c].mean)) all.push_back(result_of(bath, c));  // nan: not known
    }
  }
  return all;
}

AveragedQuantity TableObserver::average_of(const analysis::Blocking& b, double samples,
                                           const std::string& quantity, const Bath& bath) const {
  AveragedQuantity a{spec_.file, quantity, b.mean, b.error};
  a.autocorrelation_ps = b.autocorrelation_time * info_.time_ps(every_);
  a.independent_samples = samples / (2.0 * b.autocorrelation_time);
  a.samples = static_cast<std::int64_t>(samples);
  a.converged = b.converged;
  a.bath_K = bath.temperature_K;
  return a;
}

AveragedQuantity TableObserver::fluctuation_of(const Bath& bath) const {
  const double factor = spec_.fluctuation->factor(temperature_K(bath));
  AveragedQuantity a = average_of(bath.fluctuation.result(), bath.fluctuation.samples(),
                                  spec_.fluctuation->quantity, bath);
  a.mean = spec_.fluctuation->offset + factor * a.mean;
  a.error *= factor;
  return a;
}

AveragedQuantity TableObserver::result_of(const Bath& bath, std::size_t column) const {
  const analysis::MeanError& result = bath.results[column];
  AveragedQuantity a{spec_.file, spec_.columns[bath.averages.size() + column], result.mean,
                     result.error};
  a.independent_samples = static_cast<double>(bath.result_replicas);
  a.samples = bath.result_replicas;
  a.bath_K = bath.temperature_K;
  return a;
}

void TableObserver::save(std::ostream& out) {
  table_.sync();
  io::put(out, table_.length());
  for (const Bath& bath : baths_) {
    for (const analysis::PooledBlocking& average : bath.averages) {
      io::put(out, std::span<const double>(average.memory()));
    }
    if (fluctuates(bath)) io::put(out, std::span<const double>(bath.fluctuation.memory()));
    for (const analysis::MeanError& result : bath.results) {
      io::put(out, result.mean);
      io::put(out, result.error);
    }
    io::put(out, bath.result_replicas);
  }
  if (spec_.save) spec_.save(out);
}

void TableObserver::load(std::istream& in) {
  table_.cut(io::get_u64(in));
  for (Bath& bath : baths_) {
    for (analysis::PooledBlocking& average : bath.averages) average.restore(io::get_doubles(in));
    if (fluctuates(bath)) bath.fluctuation.restore(io::get_doubles(in));
    for (analysis::MeanError& result : bath.results) {
      result.mean = io::get_double(in);
      result.error = io::get_double(in);
    }
    bath.result_replicas = io::get_i64(in);
  }
  if (spec_.load) spec_.load(in);
}

}  // namespace tarn
