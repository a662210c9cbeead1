#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observe/observers.hpp"

/// @file
/// Numbers of one's own, with all that a run does for its own tables.

namespace tarn {

/// Some numbers of each replica every so many steps: `<file>.csv` with rows
/// `step,time_ps,replica,<columns>`, their means with errors in averages.csv and RunResult, by bath
/// where there are several, and a picture of the first six against time.
struct QuantityTable {
  std::string file;                  ///< name of the table: letters, digits, - and _
  std::vector<std::string> columns;  ///< names with their units, "oo_shortest_A"
  std::int64_t every = 100;          ///< steps between rows
  unsigned fields = kPositions;      ///< what `values` looks at
  /// The numbers of live replica r, place by place of `columns`; all are nan before. Called for one
  /// replica after the other, in the order of the Frame.
  std::function<void(const Frame& frame, std::size_t r, std::span<double> values)> values;
  ReplicaSelection replicas{};  ///< whose rows are written; averages are of all replicas
  /// Whether a value may be nan: it is written so, and counts in no average. Otherwise it ends the
  /// run.
  bool may_be_unknown = false;
  /// Whether means do not move in equilibrium: where they do, a note says so. Not of values that
  /// may be unknown.
  bool steady = false;
  /// What else decides the values, "within 3.5 A": a run that is resumed must have the same.
  std::string settings{};
  /// Where `values` remembers something from one step to the next: what a checkpoint holds of it,
  /// by tarn/io/binary.hpp. Null: nothing.
  std::function<void(std::ostream&)> save{};
  std::function<void(std::istream&)> load{};
};

/// The observer that writes the table, for RunOptions::observers.
/// @throws InputError for a name, an interval or columns that cannot be, a table without values, or
///         one of save and load without the other
ObserverMaker quantity_table(QuantityTable table);

}  // namespace tarn
