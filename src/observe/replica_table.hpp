#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/analysis/errors.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {

/// A CSV file with rows `step,time_ps,replica,<values>` for all replicas or the first n. With
/// ReplicaSelection mean there is one row per step with means; each value column is followed by its
/// standard error, `<column>_err`.
class ReplicaTable {
 public:
  /// Range of value columns that may contain nan; their means ignore it. In other columns nan is an
  /// error.
  struct MaybeUnknown {
    std::size_t first = 0, end = 0;
  };
  /// @param likely see io::CsvFormat
  ReplicaTable(const std::string& path, const std::vector<std::string>& value_columns,
               const ReplicaSelection& replicas, MaybeUnknown maybe_unknown = {0, 0},
               std::string_view likely = io::kBlowUpAdvice);

  void create(const std::string& provenance);
  void cut(std::uint64_t length) { csv_.cut(length); }
  /// Whether the rows are means.
  bool has_means() const { return replicas_.kind == ReplicaSelection::Kind::mean; }
  /// Writes a row for each selected replica; stopped replicas have none.
  /// @param values [live replica][column]
  void write(const Frame& frame, double time_ps, std::span<const double> values);
  /// Writes the row of means. @param of_columns over the replicas
  void write_means(std::int64_t step, double time_ps,
                   std::span<const analysis::MeanError> of_columns);
  bool may_be_unknown(std::size_t column) const {
    return column >= maybe_unknown_.first && column < maybe_unknown_.end;
  }
  void flush() { csv_.flush(); }
  void sync() { csv_.sync(); }
  std::uint64_t length() const { return csv_.length(); }

 private:
  void cell(std::size_t column, double value);

  std::size_t columns_;
  ReplicaSelection replicas_;
  MaybeUnknown maybe_unknown_;
  io::CsvWriter csv_;
};

/// Text for Observer::name().
std::string selection_text(const ReplicaSelection& replicas);

}  // namespace tarn
