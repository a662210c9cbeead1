#include "table_observer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "tarn/io/binary.hpp"

namespace tarn {
namespace {

/// Fewer values than this are faster on one thread.
constexpr std::size_t kFewValues = 16'384;

}  // namespace

TableObserver::TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                             const RunInfo& info)
    : spec_(std::move(spec)),
      every_(every),
      replicas_(replicas),
      info_(info),
      table_(fmt::format("{}/{}.csv", info.out_dir, spec_.file), spec_.columns, replicas,
             {spec_.rows_may_be_unknown ? 0 : spec_.averaged_columns,
              spec_.averaged_columns + spec_.result_columns},
             spec_.likely),
      baths_(info) {
  for (const int n : baths_.replicas()) {
    Averages& bath = of_bath_.emplace_back();
    bath.averages.assign(spec_.averaged_columns, analysis::PooledBlocking::of_replicas(n));
    bath.fluctuation = analysis::PooledCovariance::of_replicas(n);
    bath.results.resize(spec_.result_columns);
    bath.late.assign(spec_.result_columns, 0.0);
    bath.early = bath.late;
    bath.halves.assign(spec_.steady_columns.size(), analysis::Halves::of_replicas(n));
  }
}

std::string TableObserver::name() const {
  return fmt::format("{}{} every {} replicas {}{}", spec_.file,
                     spec_.fluctuation ? " and covariances" : "", every_, selection_text(replicas_),
                     spec_.remembers);
}

void TableObserver::observe(const Frame& frame) {
  if (spec_.prepare) spec_.prepare(frame);
  gather_values(frame);
  table_.write(frame, info_.time_of(frame), values_);
  if (frame.step < std::max(info_.first_averaged_step, spec_.first_result_step)) return;
  group_by_bath(frame);
  // Each series is one thread's, so that its sums have one order.
  const std::size_t series = series_of_bath(), all = baths_.size() * series;
  const int threads = values_.size() < kFewValues ? 1 : info_.threads;
  for_each_index(static_cast<std::int64_t>(all), threads, [&](std::int64_t i) {
    const auto k = static_cast<std::size_t>(i);
    add_series(frame, k / series, k % series);
  });
  for (std::size_t bath = 0; bath < baths_.size(); ++bath) end_row(bath);
}

void TableObserver::gather_values(const Frame& frame) {
  values_.clear();
  const std::size_t columns = spec_.columns.size(), replicas = frame.live();
  if (!spec_.values_follow_from_frame || replicas * columns < kFewValues) {
    for (std::size_t r = 0; r < replicas; ++r) spec_.append_values(frame, r, values_);
    return;
  }
  values_.resize(replicas * columns);
  constexpr std::size_t kReplicasOfChunk = 1024;
  const std::size_t chunks = (replicas + kReplicasOfChunk - 1) / kReplicasOfChunk;
  for_each_index(static_cast<std::int64_t>(chunks), info_.threads, [&](std::int64_t chunk) {
    const std::size_t first = static_cast<std::size_t>(chunk) * kReplicasOfChunk;
    const std::size_t last = std::min(first + kReplicasOfChunk, replicas);
    std::vector<double> values;
    values.reserve((last - first) * columns);
    for (std::size_t r = first; r < last; ++r) spec_.append_values(frame, r, values);
    std::copy(values.begin(), values.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(first * columns));
  });
}

void TableObserver::group_by_bath(const Frame& frame) {
  if (!rows_of_bath_.empty() && frame.replica_ids == grouped_ids_) return;
  grouped_ids_ = frame.replica_ids;
  rows_of_bath_.assign(baths_.size(), {});
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    BathRows& bath = rows_of_bath_[baths_.of(id)];
    bath.ids.push_back(baths_.index_in_bath(id));
    bath.rows.push_back(r);
  }
}

double TableObserver::temperature_K(std::size_t bath) const {
  const double only_K = info_.baths_K.empty() ? 0.0 : info_.baths_K.front();
  return baths_.temperature_K(bath).value_or(only_K);
}

bool TableObserver::fluctuates(std::size_t bath) const {
  return spec_.fluctuation && temperature_K(bath) > 0.0;
}

void TableObserver::add_series(const Frame& frame, std::size_t bath_number, std::size_t series) {
  const auto& [ids, rows] = rows_of_bath_[bath_number];
  if (rows.empty()) return;
  Averages& bath = of_bath_[bath_number];
  const std::size_t results = bath.results.size(), averages = bath.averages.size();
  std::vector<double> column(rows.size());
  const auto take_column = [&](std::size_t c) {
    const double* const from = values_.data() + c;
    const std::size_t columns = spec_.columns.size();
    for (std::size_t i = 0; i < rows.size(); ++i) column[i] = from[rows[i] * columns];
  };
  if (series < averages) {
    take_column(series);
    add_known(ids, column, bath.averages[series]);
  } else if (series < averages + results) {
    take_column(series);
    bath.results[series - averages] = analysis::mean_and_error(column);
  } else if (const std::size_t steady = series - averages - results; steady < bath.halves.size()) {
    take_column(spec_.steady_columns[steady]);
    bath.halves[steady].add_replicas(ids, column);
  } else if (fluctuates(bath_number)) {
    std::vector<double> other(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      column[i] = spec_.fluctuation->value(frame, rows[i]);
      other[i] = spec_.fluctuation->other(frame, rows[i]);
    }
    bath.fluctuation.add_replicas(ids, column, other);
  }
}

void TableObserver::end_row(std::size_t bath_number) {
  const std::size_t replicas = rows_of_bath_[bath_number].rows.size();
  if (replicas == 0) return;
  Averages& bath = of_bath_[bath_number];
  bath.result_replicas = static_cast<std::int64_t>(replicas);
  if (!std::has_single_bit(static_cast<std::uint64_t>(++bath.result_rows))) return;
  bath.early = bath.late;
  for (std::size_t c = 0; c < bath.results.size(); ++c) bath.late[c] = bath.results[c].mean;
}

void TableObserver::add_known(const std::vector<std::int64_t>& ids,
                              const std::vector<double>& column,
                              analysis::PooledBlocking& average) const {
  if (!spec_.rows_may_be_unknown) return average.add_replicas(ids, column);
  std::vector<std::int64_t> known_ids;
  std::vector<double> known;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (std::isnan(column[i])) continue;
    known_ids.push_back(ids[i]);
    known.push_back(column[i]);
  }
  if (!known.empty()) average.add_replicas(known_ids, known);
}

std::vector<AveragedQuantity> TableObserver::averages() const {
  std::vector<AveragedQuantity> all;
  std::map<std::size_t, EquilibriumDrift> drifts;  // by column
  for (std::size_t k = 0; k < spec_.steady_columns.size(); ++k) {
    const auto drift = drift_of(shifts_of(k));
    if (drift) drifts[spec_.steady_columns[k]] = *drift;
  }
  for (std::size_t b = 0; b < baths_.size(); ++b) {
    const Averages& bath = of_bath_[b];
    if (bath.result_replicas == 0) continue;
    for (std::size_t c = 0; c < bath.averages.size(); ++c) {
      const analysis::PooledBlocking& average = bath.averages[c];
      if (average.samples() == 0.0) continue;  // all values were nan
      all.push_back(average_of(average.result(), average.samples(), spec_.columns[c], b));
      if (const auto drift = drifts.find(c); drift != drifts.end()) {
        all.back().drift = drift->second.per_bath[b];
      }
    }
    if (fluctuates(b)) all.push_back(fluctuation_of(b));
    for (std::size_t c = 0; c < bath.results.size(); ++c) {
      if (!std::isnan(bath.results[c].mean)) all.push_back(result_of(b, c));  // nan: unknown
    }
  }
  if (spec_.more_averages) {
    for (AveragedQuantity& a : spec_.more_averages()) all.push_back(std::move(a));
  }
  return all;
}

BathShifts TableObserver::shifts_of(std::size_t steady) const {
  BathShifts rises;
  for (const Averages& bath : of_bath_) {
    rises.add(bath.halves[steady], bath.averages[spec_.steady_columns[steady]].result().error);
  }
  return rises;
}

std::vector<std::string> TableObserver::notes() const {
  std::vector<std::string> notes;
  for (std::size_t k = 0; k < spec_.steady_columns.size(); ++k) {
    const auto note = equilibration_warning(spec_.columns[spec_.steady_columns[k]], shifts_of(k));
    if (note) notes.push_back(*note + " or --skip of tarn analyse");
  }
  return notes;
}

AveragedQuantity TableObserver::average_of(const analysis::Blocking& b, double samples,
                                           const std::string& quantity, std::size_t bath) const {
  AveragedQuantity a{spec_.file, quantity, b.mean, b.error};
  // One sample has no autocorrelation time.
  if (samples > 1.0) a.autocorrelation_ps = b.autocorrelation_time * info_.time_ps(every_);
  a.independent_samples = samples / (2.0 * b.autocorrelation_time);
  a.samples = static_cast<std::int64_t>(samples);
  a.converged = b.converged;
  if (b.error_of_error > 0.0) a.error_of_error = b.error_of_error;
  a.bath_K = baths_.temperature_K(bath);
  return a;
}

AveragedQuantity TableObserver::fluctuation_of(std::size_t bath) const {
  const analysis::PooledCovariance& fluctuation = of_bath_[bath].fluctuation;
  const double factor = spec_.fluctuation->factor(temperature_K(bath));
  AveragedQuantity a =
      average_of(fluctuation.result(), fluctuation.samples(), spec_.fluctuation->quantity, bath);
  a.mean = spec_.fluctuation->offset + factor * a.mean;
  a.error *= factor;
  if (a.error_of_error) *a.error_of_error *= factor;
  return a;
}

bool TableObserver::has_settled(const Averages& bath, std::size_t column) const {
  if (!spec_.results_settle) return true;
  // A converged running mean changes by less than its error in the second half of the run.
  constexpr double kMoves = 2.0;
  const auto of_late =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bath.result_rows)));
  const double before = 2 * bath.result_rows < 3 * of_late ? bath.early[column] : bath.late[column];
  const analysis::MeanError& result = bath.results[column];
  return std::abs(result.mean - before) <= kMoves * result.error;
}

AveragedQuantity TableObserver::result_of(std::size_t bath, std::size_t column) const {
  const Averages& of_bath = of_bath_[bath];
  const analysis::MeanError& result = of_bath.results[column];
  AveragedQuantity a{spec_.file, spec_.columns[of_bath.averages.size() + column], result.mean,
                     result.error};
  a.independent_samples = static_cast<double>(of_bath.result_replicas);
  a.samples = of_bath.result_replicas;
  if (a.samples > 1) {
    a.error_of_error = result.error / std::sqrt(2.0 * (a.independent_samples - 1.0));
  }
  a.converged = of_bath.result_replicas >= kEnoughResults && has_settled(of_bath, column);
  a.bath_K = baths_.temperature_K(bath);
  return a;
}

void TableObserver::save(std::ostream& out) {
  table_.sync();
  io::put(out, table_.length());
  for (std::size_t b = 0; b < baths_.size(); ++b) {
    const Averages& bath = of_bath_[b];
    for (const analysis::PooledBlocking& average : bath.averages) {
      io::put(out, std::span<const double>(average.memory()));
    }
    if (fluctuates(b)) io::put(out, std::span<const double>(bath.fluctuation.memory()));
    for (const analysis::MeanError& result : bath.results) {
      io::put(out, result.mean);
      io::put(out, result.error);
    }
    io::put(out, bath.result_replicas);
    io::put(out, bath.result_rows);
    io::put(out, std::span<const double>(bath.late));
    io::put(out, std::span<const double>(bath.early));
    for (const analysis::Halves& halves : bath.halves) {
      io::put(out, std::span<const double>(halves.memory()));
    }
  }
  if (spec_.save) spec_.save(out);
}

void TableObserver::load(std::istream& in) {
  table_.cut(io::get_u64(in));
  for (std::size_t b = 0; b < baths_.size(); ++b) {
    Averages& bath = of_bath_[b];
    for (analysis::PooledBlocking& average : bath.averages) average.restore(io::get_doubles(in));
    if (fluctuates(b)) bath.fluctuation.restore(io::get_doubles(in));
    for (analysis::MeanError& result : bath.results) {
      result.mean = io::get_double(in);
      result.error = io::get_double(in);
    }
    bath.result_replicas = io::get_i64(in);
    bath.result_rows = io::get_i64(in);
    bath.late = io::get_doubles(in, bath.late.size());
    bath.early = io::get_doubles(in, bath.early.size());
    for (analysis::Halves& halves : bath.halves) halves.restore(io::get_doubles(in));
  }
  if (spec_.load) spec_.load(in);
}

}  // namespace tarn
