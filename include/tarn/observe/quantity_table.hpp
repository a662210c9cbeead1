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
/// Custom quantities: tables with the same averages, errors and pictures as those of the deck.

namespace tarn {

/// Custom quantities of each replica at a fixed interval. Writes `<file>.csv` with rows
/// `step,time_ps,replica,<columns>`, their means with errors to averages.csv and RunResult (per
/// bath if there are several), and a picture of the first six against time.
struct QuantityTable {
  std::string file;                  ///< name of the table: letters, digits, - and _
  std::vector<std::string> columns;  ///< names with units, for example "oo_shortest_A"
  std::int64_t every = 100;          ///< steps between rows
  unsigned fields = kPositions;      ///< Frame fields that `values` needs
  /// Sets the values of live replica r in the order of `columns`; they are initialised with nan.
  /// Called for the replicas sequentially, in the order of the Frame.
  std::function<void(const Frame& frame, std::size_t r, std::span<double> values)> values;
  ReplicaSelection replicas{};  ///< replicas with rows; averages cover all replicas
  /// Whether a value may be nan: nan is written and excluded from averages. Otherwise nan ends the
  /// run.
  bool may_be_unknown = false;
  /// Whether means are stationary in equilibrium: a significant drift causes a warning. Excludes
  /// `may_be_unknown`.
  bool steady = false;
  /// Other settings of the values, for example "within 3.5 A"; a resumed run must have the same.
  std::string settings{};
  /// Save and load the state of `values` in checkpoints, if it keeps any between steps; see
  /// tarn/io/binary.hpp. Null: none.
  std::function<void(std::ostream&)> save{};
  std::function<void(std::istream&)> load{};
};

/// Creates a maker of the observer that writes the table, for RunOptions::observers.
/// @throws InputError for an invalid name, interval or column, a table without `values`, or only
///         one of save and load
ObserverMaker quantity_table(QuantityTable table);

}  // namespace tarn
