#include "tarn/observe/quantity_table.hpp"

#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "table_observer.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/number.hpp"

namespace tarn {
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
  TableSpec spec;
  spec.file = table.file;
  spec.fields = table.fields;
  spec.columns = table.columns;
  spec.averaged_columns = table.columns.size();
  spec.rows_may_be_unknown = table.may_be_unknown;
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
