#include "table_observer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/observe/quantity_table.hpp"

namespace tarn {
namespace {

/// Fewer values than this are faster on one thread.
constexpr std::size_t kFewValues = 16'384;

analysis::Moments moments_at(const GroupMoments& m, std::size_t at) {
  return {static_cast<double>(m.counts[at]), m.pivots[at], m.sums[at], m.squares[at]};
}

void add_all(const std::vector<analysis::Moments>& parts, analysis::Moments& all) {
  for (const analysis::Moments& part : parts) all.add(part);
}
/// Mean and error; nan without values.
analysis::MeanError known_mean(const analysis::Moments& moments) {
  if (moments.count > 0.0) return mean_and_error(moments);
  return {std::nan(""), std::nan("")};
}

std::vector<std::string> header_of(const std::vector<std::string>& value_columns,
                                   const ReplicaSelection& replicas) {
  std::vector<std::string> header{"step", "time_ps", "replica"};
  for (const std::string& column : value_columns) {
    header.push_back(column);
    if (replicas.kind == ReplicaSelection::Kind::mean) header.push_back(column + "_err");
  }
  return header;
}

}  // namespace

TableObserver::TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                             const RunInfo& info)
    : spec_(std::move(spec)),
      every_(every),
      replicas_(replicas),
      info_(info),
      csv_(fmt::format("{}/{}.csv", info.out_dir, spec_.file), header_of(spec_.columns, replicas),
           spec_.likely),
      baths_(info),
      groups_(baths_.groups()),
      groups_of_bath_(baths_.size()) {
  for (int group = 0; group < baths_.groups(); ++group) {
    const std::size_t bath = baths_.of(group);
    groups_of_bath_[bath].push_back(
        {group, sample_group(baths_.index_in_bath(group), baths_.series(bath))});
  }
  for (const int n : baths_.replicas()) {
    Averages& bath = per_bath_.emplace_back();
    bath.averages.assign(spec_.averaged_columns,
                         analysis::PooledBlocking::of_replicas(n, info.starts));
    bath.fluctuation = analysis::PooledCovariance::of_replicas(n, info.starts);
    bath.results.resize(spec_.result_columns);
    bath.late.assign(spec_.result_columns, 0.0);
    bath.early = bath.late;
    bath.halves.assign(spec_.steady_columns.size(), analysis::Halves::of_replicas(n, info.starts));
  }
}

std::string TableObserver::name() const {
  return fmt::format("{}{} every {} replicas {}{}", spec_.file,
                     spec_.fluctuation ? " and covariances" : "", every_, selection_text(replicas_),
                     spec_.remembers);
}

void TableObserver::observe(const Frame& frame) {
  if (spec_.prepare) spec_.prepare(frame);
  if (takes_rows()) gather_values(frame);
  if (!has_means()) write_rows(frame);
  const bool is_averaged =
      frame.step >= std::max(info_.first_averaged_step, spec_.first_result_step);
  if (frame.replica_ids.empty() || (!is_averaged && !has_means())) return;
  take_moments(frame);
  if (has_means()) write_means(frame);
  for (std::size_t bath = 0; is_averaged && bath < baths_.size(); ++bath) {
    add_averages(frame, bath);
  }
}

void TableObserver::begin() {
  csv_.create(info_.provenance + std::string(spec_.remark) +
              (has_means()
                   ? "; means over replicas; _err = standard error (0: unknown, one replica)"
                   : ""));
}

void TableObserver::cell(std::size_t column, double value) {
  if (may_be_unknown(column)) {
    csv_.cell_or_nan(value);
  } else {
    csv_.cell(value);
  }
}

void TableObserver::write_rows(const Frame& frame) {
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    if (replicas_.kind == ReplicaSelection::Kind::first && id >= replicas_.count) continue;
    csv_.cells(frame.step, info_.time_of(frame), id);
    const std::size_t columns = spec_.columns.size();
    for (std::size_t c = 0; c < columns; ++c) cell(c, values_[r * columns + c]);
    csv_.end_row();
  }
}

void TableObserver::write_means(const Frame& frame) {
  csv_.cells(frame.step, info_.time_of(frame), std::string_view("mean"));
  for (std::size_t c = 0; c < spec_.columns.size(); ++c) {
    analysis::Moments all;
    for (std::size_t bath = 0; bath < baths_.size(); ++bath) add_all(series_of(c, bath), all);
    const analysis::MeanError mean = known_mean(all);
    cell(c, mean.mean);
    cell(c, mean.error);
  }
  csv_.end_row();
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

void TableObserver::take_moments(const Frame& frame) {
  groups_.sort(frame.replica_ids);
  moments_.clear();
  for (const MomentColumn& column : spec_.moment_columns) {
    moments_.push_back(&(frame.*column.moments));
  }
  if (!moments_.empty()) return;
  const std::size_t columns = spec_.columns.size();
  make_moments(values_, static_cast<int>(columns), groups_, true, info_.threads, computed_);
  moments_.assign(columns, &computed_);
}

std::vector<analysis::Moments> TableObserver::series_of(std::size_t column,
                                                        std::size_t bath) const {
  std::vector<analysis::Moments> sums_by_series(baths_.series(bath));
  const GroupMoments& m = *moments_[column];
  const int number =
      spec_.moment_columns.empty() ? static_cast<int>(column) : spec_.moment_columns[column].number;
  for (const auto& [group, at] : groups_of_bath_[bath]) {
    analysis::Moments moments = moments_at(m, static_cast<std::size_t>(group * m.numbers + number));
    const int replicas = groups_.replicas(group);
    if (moments.count < replicas && !may_be_unknown(column)) {
      moments = {static_cast<double>(replicas), std::nan(""), std::nan(""), std::nan("")};
    }
    sums_by_series[at].add(moments);
  }
  return sums_by_series;
}

double TableObserver::temperature_K(std::size_t bath) const {
  const double only_K = info_.baths_K.empty() ? 0.0 : info_.baths_K.front();
  return baths_.temperature_K(bath).value_or(only_K);
}

void TableObserver::add_averages(const Frame& frame, std::size_t bath_number) {
  const std::int64_t replicas = replicas_of(bath_number);
  if (replicas == 0) return;
  Averages& bath = per_bath_[bath_number];
  const std::size_t averages = bath.averages.size();
  for (std::size_t c = 0; c < averages; ++c) {
    bath.averages[c].add_sums(series_of(c, bath_number));
  }
  for (std::size_t c = 0; c < bath.results.size(); ++c) {
    analysis::Moments all;
    add_all(series_of(averages + c, bath_number), all);
    bath.results[c] = known_mean(all);
  }
  for (std::size_t k = 0; k < bath.halves.size(); ++k) {
    bath.halves[k].add_sums(series_of(spec_.steady_columns[k], bath_number));
  }
  if (fluctuates(bath_number)) add_fluctuation(frame, bath_number);
  bath.result_replicas = replicas;
  if (!std::has_single_bit(static_cast<std::uint64_t>(++bath.result_rows))) return;
  bath.early = bath.late;
  for (std::size_t c = 0; c < bath.results.size(); ++c) bath.late[c] = bath.results[c].mean;
}

void TableObserver::add_fluctuation(const Frame& frame, std::size_t bath) {
  const GroupMoments& m = frame.*spec_.fluctuation->moments;
  std::vector<analysis::PairSums> sums_by_series(baths_.series(bath));
  for (const auto& [group, at] : groups_of_bath_[bath]) {
    const auto y = static_cast<std::size_t>((group + 1) * m.numbers - 1), x = y - 1;
    sums_by_series[at].add(
        {moments_at(m, x), moments_at(m, y), m.products[static_cast<std::size_t>(group)]});
  }
  per_bath_[bath].fluctuation.add_sums(sums_by_series);
}

std::int64_t TableObserver::replicas_of(std::size_t bath) const {
  std::int64_t replicas = 0;
  for (const GroupOfBath& of_bath : groups_of_bath_[bath]) {
    replicas += groups_.replicas(of_bath.group);
  }
  return replicas;
}

std::vector<AveragedQuantity> TableObserver::averages() const {
  std::vector<AveragedQuantity> all;
  std::map<std::size_t, EquilibriumDrift> drifts;  // by column
  for (std::size_t k = 0; k < spec_.steady_columns.size(); ++k) {
    const auto drift = drift_of(shifts_of(k));
    if (drift) drifts[spec_.steady_columns[k]] = *drift;
  }
  for (std::size_t b = 0; b < baths_.size(); ++b) {
    const Averages& bath = per_bath_[b];
    if (bath.result_replicas == 0) continue;
    for (std::size_t c = 0; c < bath.averages.size(); ++c) {
      const analysis::PooledBlocking& average = bath.averages[c];
      if (average.samples() == 0.0) continue;  // all values were nan
      all.push_back(average_of(average.result(), average.samples(), spec_.columns[c], b));
      compare_starts(average.sigmas_between(baths_.starts(b)), all.back());
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
  for (const Averages& bath : per_bath_) {
    rises.add(bath.halves[steady], bath.averages[spec_.steady_columns[steady]].result().error);
  }
  return rises;
}

Messages TableObserver::messages() const {
  Messages messages;
  for (std::size_t k = 0; k < spec_.steady_columns.size(); ++k) {
    auto warning = equilibration_warning(spec_.columns[spec_.steady_columns[k]], shifts_of(k));
    if (!warning) continue;
    const bool has_rows = replicas_.count_of(info_.replicas) > 0;
    if (has_rows) warning->text += " or --skip of tarn analyse";
    messages.push_back(std::move(*warning));
  }
  if (spec_.more_messages) append(spec_.more_messages(), messages);
  return messages;
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

void TableObserver::compare_starts(double sigmas, AveragedQuantity& a) const {
  if (info_.starts == 1 || is_constant(a)) return;
  if (sigmas > 0.0) a.sigmas_between_starts = sigmas;  // 0: not known
  if (sigmas > AveragedQuantity::kMostSigmasBetweenStarts) a.converged = false;
}

AveragedQuantity TableObserver::fluctuation_of(std::size_t bath) const {
  const analysis::PooledCovariance& fluctuation = per_bath_[bath].fluctuation;
  const double factor = spec_.fluctuation->factor(temperature_K(bath));
  AveragedQuantity a =
      average_of(fluctuation.result(), fluctuation.samples(), spec_.fluctuation->quantity, bath);
  a.mean = spec_.fluctuation->offset + factor * a.mean;
  a.error *= factor;
  if (a.error_of_error) *a.error_of_error *= factor;
  compare_starts(fluctuation.sigmas_between(baths_.starts(bath)), a);
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
  const Averages& of_bath = per_bath_[bath];
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

void TableObserver::archive(io::Archive& a) {
  a(csv_);
  for (std::size_t b = 0; b < baths_.size(); ++b) {
    Averages& bath = per_bath_[b];
    a.fixed(bath.averages);
    if (fluctuates(b)) a(bath.fluctuation);
    for (analysis::MeanError& result : bath.results) a(result.mean, result.error);
    a(bath.result_replicas, bath.result_rows);
    a.fixed(bath.late, bath.early, bath.halves);
  }
  if (spec_.archive) spec_.archive(a);
}

std::string selection_text(const ReplicaSelection& replicas) {
  switch (replicas.kind) {
    case ReplicaSelection::Kind::all:
      return "all";
    case ReplicaSelection::Kind::mean:
      return "mean";
    case ReplicaSelection::Kind::first:
      return fmt::format("first {}", replicas.count);
  }
  return {};
}

namespace {

constexpr std::string_view kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

void check(const QuantityTable& table) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("quantity_table '{}': {}", table.file, why));
  };
  if (table.file.empty() || table.file.find_first_not_of(kNameLetters) != std::string::npos) {
    refuse("invalid file name; use letters, digits, - and _, without extension");
  }
  if (table.columns.empty()) refuse("it has no columns");
  std::set<std::string> names{"step", "time_ps", "replica"};
  for (const std::string& column : table.columns) {
    if (column.empty() || column.find_first_of(",\"\r\n#") != std::string::npos) {
      refuse(fmt::format("'{}' is not a valid column name", column));
    }
    if (!names.insert(column).second || !names.insert(column + "_err").second) {
      refuse(fmt::format("the column '{}', or its error column, exists twice", column));
    }
  }
  if (table.every < 1) refuse(fmt::format("every = {} must be at least 1", table.every));
  if (!table.values) refuse("values is empty; give a function");
  if (table.steady && table.may_be_unknown) {
    refuse("steady and may_be_unknown are mutually exclusive");
  }
  if (!table.save != !table.load) refuse("give both save and load, or neither");
  if (table.replicas.kind == ReplicaSelection::Kind::first && table.replicas.count < 1) {
    refuse(
        fmt::format("the number of replicas is {}; it must be at least 1", table.replicas.count));
  }
}

TableSpec spec_of(const QuantityTable& table) {
  TableSpec spec{.file = table.file,
                 .fields = table.fields,
                 .columns = table.columns,
                 .averaged_columns = table.columns.size(),
                 .rows_may_be_unknown = table.may_be_unknown};
  if (table.steady) {
    spec.steady_columns.resize(table.columns.size());
    std::iota(spec.steady_columns.begin(), spec.steady_columns.end(), std::size_t{0});
  }
  spec.likely =
      ": its function set this value, or none. If values can be unknown, set "
      "QuantityTable::may_be_unknown (in Python: may_be_unknown=True of tarn.observer)";
  spec.append_values = [columns = table.columns.size(), values_of = table.values](
                           const Frame& frame, std::size_t r, std::vector<double>& values) {
    values.resize(values.size() + columns, kNoNumber);
    values_of(frame, r, std::span(values).last(columns));
  };
  if (table.save) {
    spec.archive = [save = table.save, load = table.load](io::Archive& a) {
      if (a.is_reading()) {
        load(a.in());
      } else {
        save(a.out());
      }
    };
  }
  spec.remembers = fmt::format(" of {}{}{}{}{}", fmt::join(table.columns, ", "),
                               table.may_be_unknown ? ", which may be unknown" : "",
                               table.steady ? ", steady" : "", table.settings.empty() ? "" : "; ",
                               table.settings);
  return spec;
}

}  // namespace

ObserverMaker quantity_table(QuantityTable table) {
  check(table);
  return [table = std::move(table)](const RunInfo& run) {
    return std::make_unique<TableObserver>(spec_of(table), table.every, table.replicas, run);
  };
}

}  // namespace tarn
