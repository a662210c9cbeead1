#include "replica_table.hpp"

#include <fmt/format.h>

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
  csv_.create(provenance + (has_means()
                                ? "; means over replicas; _err = standard error (0: unknown, one "
                                  "replica)"
                                : ""));
}

void ReplicaTable::write(const Frame& frame, double time_ps, std::span<const double> values) {
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const std::int64_t id = frame.replica_ids[r];
    if (replicas_.kind == ReplicaSelection::Kind::first && id >= replicas_.count) continue;
    csv_.cell(frame.step).cell(time_ps).cell(id);
    for (std::size_t c = 0; c < columns_; ++c) cell(c, values[r * columns_ + c]);
    csv_.end_row();
  }
}

void ReplicaTable::write_means(std::int64_t step, double time_ps,
                               std::span<const analysis::MeanError> of_columns) {
  csv_.cell(step).cell(time_ps).cell(std::string_view("mean"));
  for (std::size_t c = 0; c < columns_; ++c) {
    cell(c, of_columns[c].mean);
    cell(c, of_columns[c].error);
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
