#include "replica_table.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tarn/analysis/errors.hpp"

namespace tarn {
namespace {

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

ReplicaTable::ReplicaTable(const std::string& path, const std::vector<std::string>& value_columns,
                           const ReplicaSelection& replicas, MaybeUnknown maybe_unknown,
                           std::string_view likely)
    : columns_(value_columns.size()),
      replicas_(replicas),
      maybe_unknown_(maybe_unknown),
      csv_(path, header_of(value_columns, replicas), likely) {}

void ReplicaTable::create(const std::string& provenance) {
  const bool mean = replicas_.kind == ReplicaSelection::Kind::mean;
  csv_.create(provenance + (mean ? "; means over replicas; _err = standard error (0: unknown, one "
                                   "replica)"
                                 : ""));
}

void ReplicaTable::write(const Frame& frame, double time_ps, std::span<const double> values) {
  if (replicas_.kind == ReplicaSelection::Kind::mean) return write_mean(frame, time_ps, values);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    if (replicas_.kind == ReplicaSelection::Kind::first && id >= replicas_.count) continue;
    csv_.cell(frame.step).cell(time_ps).cell(id);
    for (std::size_t c = 0; c < columns_; ++c) cell(c, values[r * columns_ + c]);
    csv_.end_row();
  }
}

void ReplicaTable::write_mean(const Frame& frame, double time_ps, std::span<const double> values) {
  const std::size_t replicas = frame.replica_ids.size();
  if (replicas == 0) return;
  csv_.cell(frame.step).cell(time_ps).cell(std::string_view("mean"));
  std::vector<double> column;
  for (std::size_t c = 0; c < columns_; ++c) {
    column.clear();
    for (std::size_t r = 0; r < replicas; ++r) {
      const double value = values[r * columns_ + c];
      if (!may_be_unknown(c) || !std::isnan(value)) column.push_back(value);
    }
    if (column.empty()) column.push_back(std::nan(""));
    const analysis::MeanError result = analysis::mean_and_error(column);
    cell(c, result.mean);
    cell(c, result.error);
  }
  csv_.end_row();
}

void ReplicaTable::cell(std::size_t column, double value) {
  if (may_be_unknown(column)) {
    csv_.cell_or_nan(value);
  } else {
    csv_.cell(value);
  }
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

}  // namespace tarn
