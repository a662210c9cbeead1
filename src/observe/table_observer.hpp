#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blocking.hpp"
#include "baths.hpp"
#include "interface/moments.hpp"
#include "io/archive.hpp"
#include "observable.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observer.hpp"
#include "warnings.hpp"

namespace tarn {

/// Text for Observer::name().
std::string selection_text(const ReplicaSelection& replicas);

/// Minimum number of replicas for an error from their spread; with fewer it is uncertain by a
/// quarter or more.
inline constexpr std::int64_t kEnoughResults = 8;

/// Moments of a value of a table that an engine computes.
struct MomentColumn {
  GroupMoments Frame::*moments = nullptr;
  int number = 0;  ///< in the rows of the moments
};

/// An average computed from the covariance of the last two numbers of moments over replicas and
/// time.
struct FluctuationSpec {
  std::string quantity;
  GroupMoments Frame::*moments = nullptr;
  double offset = 0.0;
  /// The average is offset + factor(temperature of the bath) * covariance.
  double (*factor)(double bath_K) = nullptr;
};

/// Definition of a table of values per replica.
struct TableSpec {
  std::string file;             ///< file name without extension
  unsigned fields = kNoFields;  ///< that append_values() needs
  std::vector<std::string> columns{};
  /// Fields with the moments of the columns, and where they are; none: the observer computes
  /// moments from the values of all replicas.
  unsigned moment_fields = kNoFields;
  std::vector<MomentColumn> moment_columns{};
  /// The first columns have averages. The result columns follow: values of the whole run so far, of
  /// which the last counts; nan until there is one.
  std::size_t averaged_columns = 0;
  std::size_t result_columns = 0;
  /// Whether results must change by less than their errors to count as converged.
  bool results_settle = false;
  std::int64_t first_result_step = 0;  ///< earlier rows contribute to no averages or results
  /// Averaged columns that are stationary in equilibrium; a significant drift causes a warning.
  std::vector<std::size_t> steady_columns{};
  bool rows_may_be_unknown = false;  ///< averages ignore nan
  /// Description of the columns in the first line of the table, after the provenance.
  std::string_view remark{};
  /// End of the error message about a value that is not a number; a literal.
  std::string_view likely = io::kBlowUpAdvice;
  /// Computed only for bath temperatures above 0.
  std::optional<FluctuationSpec> fluctuation{};
  /// Whether append_values() depends on the frame only: several threads may then call it.
  bool values_follow_from_frame = false;
  /// Appends the values of live replica r in the order of the columns.
  std::function<void(const Frame& frame, std::size_t r, std::vector<double>& values)>
      append_values{};
  /// Saves and loads the state that append_values() keeps between frames; null: none.
  std::function<void(io::Archive&)> archive{};
  /// Whether the engine may compute later steps during observe().
  bool may_lag = true;
  /// Called with each frame before append_values(); null: none.
  std::function<void(const Frame& frame)> prepare{};
  /// Additional averages, listed after those of the columns; null: none.
  std::function<std::vector<AveragedQuantity>()> more_averages{};
  /// Additional messages; null: none.
  std::function<Messages()> more_messages{};
  /// See Observer; null: not known.
  std::function<std::optional<StructureChanges>()> structure_changes{};
  /// Additional state in checkpoints, as a part of name(); empty: none.
  std::string remembers{};
  /// See Observer; null or no fields: none.
  unsigned accumulated = kNoFields;
  std::function<void(MeasureSettings&)> configure{};
  std::function<void(const Frame&)> catch_up{};
  /// Writes additional files at the end; null: none.
  std::function<void()> finish{};
};

/// A column with a number of the rows of a frame.
template <class Row>
struct RowColumn {
  std::string name;
  double Row::*value;
  int moment;  ///< its number in the moments
};

/// Sets the columns of a table to numbers of the rows of a frame, with averages of all.
template <class Row>
void set_columns(TableSpec& spec, std::vector<Row> Frame::*rows, GroupMoments Frame::*moments,
                 const std::vector<RowColumn<Row>>& columns) {
  std::vector<double Row::*> members;
  for (const RowColumn<Row>& column : columns) {
    spec.columns.push_back(column.name);
    spec.moment_columns.push_back({moments, column.moment});
    members.push_back(column.value);
  }
  spec.averaged_columns = columns.size();
  spec.values_follow_from_frame = true;
  spec.append_values = [=](const Frame& frame, std::size_t r, std::vector<double>& values) {
    for (double Row::*member : members) values.push_back((frame.*rows)[r].*member);
  };
}

/// Writes the values of a TableSpec at a fixed interval: rows `step,time_ps,replica,<values>` for
/// all replicas or the first n. With ReplicaSelection mean there is one row per step with means;
/// each value column is followed by its standard error, `<column>_err`.
class TableObserver final : public ArchivedObserver {
 public:
  TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                const RunInfo& info);

  std::string name() const override;
  std::vector<std::string> files() const override {
    return {spec_.file + ".csv", spec_.file + ".svg", spec_.file + ".png"};
  }
  unsigned fields() const override {
    return (takes_rows() ? spec_.fields : unsigned{kNoFields}) | spec_.moment_fields;
  }
  std::int64_t every() const override { return every_; }
  unsigned accumulated() const override { return spec_.accumulated; }
  void configure(MeasureSettings& settings) const override {
    settings.moment_groups = baths_.groups();
    if (spec_.configure) spec_.configure(settings);
  }
  void catch_up(const Frame& frame) override {
    if (spec_.catch_up) spec_.catch_up(frame);
  }
  bool may_lag() const override { return spec_.may_lag; }
  void begin() override;
  void observe(const Frame& frame) override;
  void finish() override {
    csv_.flush();
    if (spec_.finish) spec_.finish();
  }
  std::vector<AveragedQuantity> averages() const override;
  std::optional<StructureChanges> structure_changes() const override {
    return spec_.structure_changes ? spec_.structure_changes() : std::nullopt;
  }
  Messages messages() const override;

 private:
  void archive(io::Archive& a) override;

  /// Averages of the replicas of one bath.
  struct Averages {
    std::vector<analysis::PooledBlocking> averages{};  // [averaged column]
    analysis::PooledCovariance fluctuation{};
    std::vector<analysis::MeanError> results{};  // [result column], last, over the replicas
    std::int64_t result_replicas = 0;
    std::int64_t result_rows = 0;
    /// Means of the results after the largest power of two of rows, and after half of that;
    /// [result column]
    std::vector<double> late{}, early{};
    std::vector<analysis::Halves> halves{};  // [steady column], with the series of `averages`
  };
  /// Whether the bath has the average of FluctuationSpec.
  bool fluctuates(std::size_t bath) const { return spec_.fluctuation && temperature_K(bath) > 0.0; }
  double temperature_K(std::size_t bath) const;
  /// Whether values of single replicas are needed.
  bool takes_rows() const { return !has_means() || spec_.moment_columns.empty(); }
  /// Whether the rows are means; stopped replicas are not in them.
  bool has_means() const { return replicas_.kind == ReplicaSelection::Kind::mean; }
  /// Whether a column may contain nan; its means ignore it. In other columns nan is an error.
  bool may_be_unknown(std::size_t column) const {
    return (spec_.rows_may_be_unknown || column >= spec_.averaged_columns) &&
           column < spec_.averaged_columns + spec_.result_columns;
  }
  void cell(std::size_t column, double value);
  /// Writes a row for each selected replica; stopped replicas have none.
  void write_rows(const Frame& frame);
  /// The values of a frame, [live replica][column].
  void gather_values(const Frame& frame);
  /// Finds the moments of each column in the frame, or computes them from the values.
  void take_moments(const Frame& frame);
  /// Sums of a column by series of a bath; its values that are nan make them nan, unless they may
  /// be unknown.
  std::vector<analysis::Moments> series_of(std::size_t column, std::size_t bath) const;
  void write_means(const Frame& frame);
  void add_averages(const Frame& frame, std::size_t bath);
  void add_fluctuation(const Frame& frame, std::size_t bath);
  /// Number of replicas of a bath in the last frame.
  std::int64_t replicas_of(std::size_t bath) const;
  AveragedQuantity average_of(const analysis::Blocking& b, double samples,
                              const std::string& quantity, std::size_t bath) const;
  /// Sets the deviation between the starts, if there are several.
  void compare_starts(double sigmas, AveragedQuantity& a) const;
  AveragedQuantity fluctuation_of(std::size_t bath) const;
  /// Whether a result agrees with its value after a third to two thirds of the rows.
  bool has_settled(const Averages& bath, std::size_t column) const;
  AveragedQuantity result_of(std::size_t bath, std::size_t column) const;
  /// Shifts of a steady column.
  BathShifts shifts_of(std::size_t steady) const;

  TableSpec spec_;
  std::int64_t every_;
  ReplicaSelection replicas_;
  RunInfo info_;
  io::CsvWriter csv_;
  Baths baths_;
  std::vector<Averages> per_bath_;
  std::vector<double> values_;  ///< of the last frame
  ReplicaGroups groups_;
  GroupMoments computed_;                     ///< from values_
  std::vector<const GroupMoments*> moments_;  ///< [column]
  struct GroupOfBath {
    int group = 0;
    std::size_t series = 0;
  };
  std::vector<std::vector<GroupOfBath>> groups_of_bath_;
};

/// The observer of a section of a deck.
template <class Settings>
std::unique_ptr<Observer> make_table(TableSpec spec, const Settings& section,
                                     const ObserverContext& run) {
  return std::make_unique<TableObserver>(std::move(spec), section.every, section.replicas, run);
}

}  // namespace tarn
