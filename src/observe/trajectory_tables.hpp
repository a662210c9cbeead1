#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/observer.hpp"

/// @file
/// Writes the tables of a run for trajectory files of tarn or another program.

namespace tarn {

struct TrajectoryTablesOptions {
  std::vector<std::string> files;  ///< trajectories of one cluster, in any format that tarn reads
  std::string folder;              ///< output folder; created if missing
  std::string model{};             ///< empty: that of the first frame, or tip3p
  std::optional<ModelSection> own_model{};  ///< parameters of `model = "own"`
  io::FrameSelection frames{};
  /// Longest lag of correlation.csv; empty: no correlations.
  std::optional<double> correlation_ps{};
  bool pictures = true;
};

struct TrajectoryTables {
  std::int64_t frames = 0, replicas = 0;
  int molecules = 0;
  std::string model;
  std::vector<AveragedQuantity> averages;
  Messages messages;
  Pictures pictures;
};

/// Writes potential.csv, cluster.csv, profile.csv, averages.csv and their pictures, as runs do, and
/// correlation.csv if requested.
/// `step` is the index of the frame in its replica. `time_ps` is the time of the frame, or counts
/// frames if they have no times. The files are read twice, first to count frames.
/// @throws IoError; InputError for unreadable files, files that differ in the number of molecules
///         or the model, files given twice or without frames, if no frames are selected, for an
///         unknown model, for the folder of a run, and for correlations of frames without evenly
///         spaced times or with too many values to store
TrajectoryTables write_trajectory_tables(const TrajectoryTablesOptions& options);

}  // namespace tarn
