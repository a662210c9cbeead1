#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/observer.hpp"

/// @file
/// What a run would have written of trajectories that are files already, of tarn or another
/// program.

namespace tarn {

struct TrajectoryTablesOptions {
  std::vector<std::string> files;           ///< of any format that tarn reads, of one cluster
  std::string folder;                       ///< for the tables; made where it is not there
  std::string model{};                      ///< empty: what the first frame says, or tip3p
  std::optional<ModelSection> own_model{};  ///< the numbers of `model = "own"`
  io::FrameSelection frames{};
  /// The longest time of correlation.csv; nothing: there is none.
  std::optional<double> correlation_ps{};
};

struct TrajectoryTables {
  std::int64_t frames = 0, replicas = 0;
  int molecules = 0;
  std::string model;
  std::vector<AveragedQuantity> averages;
  std::vector<std::string> notes;
  Pictures pictures;
};

/// Writes potential.csv, cluster.csv, profile.csv, averages.csv and their pictures, as runs do, and
/// correlation.csv where it is asked for.
/// `step` is the place of the frame in its replica, and `time_ps` follows from the times of the
/// first two frames, or counts frames where they have none. The files are read twice, once to
/// count.
/// @throws IoError; InputError for files that cannot be read, that differ in their number of
///         molecules or their model, that are given twice or hold no frame, where no frame is left,
///         for a model that is not known, for the folder of a run, and for correlations where
///         the frames have no times that are evenly spaced, or too many numbers to remember
TrajectoryTables write_trajectory_tables(const TrajectoryTablesOptions& options);

}  // namespace tarn
