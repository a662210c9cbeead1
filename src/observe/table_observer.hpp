#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baths.hpp"
#include "equilibration_warning.hpp"
#include "replica_table.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/halves.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// The error that fewer replicas tell by their spread is itself unknown by a quarter and more.
inline constexpr std::int64_t kEnoughResults = 8;

/// An average that the covariance of two values over the replicas and the time gives.
struct FluctuationSpec {
  std::string quantity;
  std::function<double(const Frame&frame, std::size_t r)> value, other;
  double offset = 0.0;
  /// The average is offset + factor(temperature of the bath) * covariance.
  double (*factor)(double bath_K) = nullptr;
};

/// What makes one table of values per replica different from another.
struct TableSpec {
  std::string file;  ///< name without extension
  unsigned fields = kNoFields;
  std::vector<std::string> columns;
  /// How many of the columns have averages, the first ones; those after them are results of the
  /// whole run so far, of which the last is kept; nan as long as there is none.
  std::size_t averaged_columns = 0;
  std::size_t result_columns = 0;
  /// Results that still move by more than their errors have not converged.
  bool results_settle = false;
  std::int64_t first_result_step = 0;  ///< rows before it give no averages and results
  /// Averaged columns whose means do not move in equilibrium; where they do, a note says so.
  std::vector<std::size_t> steady_columns{};
  bool rows_may_be_unknown = false;  ///< values that are nan count in no average
  /// What the first line of the table tells of its columns, after the provenance.
  std::string_view remark{};
  /// How a message about a value that is not a number goes on; a literal.
  std::string_view likely = io::kBlowUpAdvice;
  /// Without a temperature above 0 there is none.
  std::optional<FluctuationSpec> fluctuation{};
  /// Appends the values of live replica r in the order of the columns.
  std::function<void(const Frame& frame, std::size_t r, std::vector<double>& values)> append_values;
  /// What append_values() remembers from one frame to the next; null: nothing.
  std::function<void(std::ostream&)> save;
  std::function<void(std::istream&)> load;
  /// Looks at a whole frame before append_values() does; null: no need.
  std::function<void(const Frame& frame)> prepare;
  /// Averages of its own, after those of the columns; null: none.
  std::function<std::vector<AveragedQuantity>()> more_averages;
  /// What a checkpoint must have remembered beside the table, for name(); empty: nothing.
  std::string remembers{};
  /// Writes files of its own at the end; null: none.
  std::function<void()> finish;
  /// Null: no picture.
  std::function<Pictures(const std::string& folder, const io::PictureFormats& formats)> draw;
};

/// Writes a TableSpec's values of the chosen replicas every so many steps.
class TableObserver final : public Observer {
 public:
  TableObserver(TableSpec spec, std::int64_t every, const ReplicaSelection& replicas,
                const RunInfo& info);

  std::string name() const override;
  std::vector<std::string> files() const override {
    return {spec_.file + ".csv", spec_.file + ".svg", spec_.file + ".png"};
  }
  unsigned fields() const override { return spec_.fields; }
  std::int64_t every() const override { return every_; }
  void begin() override { table_.create(info_.provenance + std::string(spec_.remark)); }
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {
    table_.flush();
    if (spec_.finish) spec_.finish();
  }
  std::vector<AveragedQuantity> averages() const override;
  std::vector<std::string> notes() const override;
  Pictures draw() override {
    return spec_.draw ? spec_.draw(info_.out_dir, io::kAllPictures) : Pictures{};
  }

 private:
  /// Averages of the replicas of one bath.
  struct Averages {
    std::vector<analysis::PooledBlocking> averages{};  // [averaged column]
    analysis::PooledCovariance fluctuation{};
    std::vector<analysis::MeanError> results{};  // [result column], over the replicas, the last
    std::int64_t result_replicas = 0;
    std::int64_t result_rows = 0;
    /// Means of the results after the last number of rows that is a power of two, and after half of
    /// that; [result column]
    std::vector<double> late{}, early{};
    std::vector<analysis::Halves> halves{};  // [steady column]; of the series of `averages`
  };
  /// Whether it has the average of FluctuationSpec.
  bool fluctuates(std::size_t bath) const;
  double temperature_K(std::size_t bath) const;
  /// The next values of replicas, those that are known.
  void add_known(const std::vector<std::int64_t>& ids, const std::vector<double>& column,
                 analysis::PooledBlocking& average) const;
  void average(const Frame& frame, const std::vector<double>& values, std::size_t bath);
  AveragedQuantity average_of(const analysis::Blocking& b, double samples,
                              const std::string& quantity, std::size_t bath) const;
  AveragedQuantity fluctuation_of(std::size_t bath) const;
  /// Whether a result is what it was after a third to two thirds of its rows.
  bool has_settled(const Averages& bath, std::size_t column) const;
  AveragedQuantity result_of(std::size_t bath, std::size_t column) const;
  /// Of a steady column.
  BathShifts shifts_of(std::size_t steady) const;

  TableSpec spec_;
  std::int64_t every_;
  ReplicaSelection replicas_;
  RunInfo info_;
  ReplicaTable table_;
  Baths baths_;
  std::vector<Averages> of_bath_;
};

}  // namespace tarn
