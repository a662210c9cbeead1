#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/observer.hpp"

/// @file
/// The tables of a run, and radial distribution functions, of trajectory files of tarn or another
/// program.

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

struct TrajectoryRdfOptions {
  std::vector<std::string> files;  ///< in any format that tarn reads
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  double bin_width_A = 0.05;  ///< r_max_A must be a multiple
  io::FrameSelection frames{};
  std::optional<int> beads{};               ///< in each frame; empty: as the file says, or one
  std::function<bool()> should_continue{};  ///< called for each frame; false ends the count
};

struct TrajectoryRdf {
  std::string csv;  ///< same columns as rdf.csv of a run
  std::int64_t frames = 0;
  std::int64_t replicas = 0;  ///< files, or the replicas that frames name
  int molecules = 0;          ///< of one bead
  int beads = 1;
  Messages messages{};  ///< about ignored contents of the files
};

/// Counts the distances between atoms of different molecules in all frames of all files, and within
/// each bead of ring polymers.
///
/// Pools all replicas. Frames without a model are assigned that of the others. Errors come from the
/// spread of the replicas if there are 16 or more, and otherwise from blocks of consecutive frames.
/// @param path for messages only
/// @throws IoError; InputError for unreadable files, files that differ in the number of molecules
///         or the model, files given twice or without frames, and invalid options
TrajectoryRdf rdf_of_trajectories(const TrajectoryRdfOptions& options, const std::string& path);

/// The same of positions in memory, with the same checks of the frames.
/// @param positions_A [frame][replica][bead][molecule][9], atoms O H H
/// @param molecules of one bead
/// @param options `files` and `frames` are ignored
/// @throws InputError for a wrong number of coordinates, no frame, atoms that coincide or are not
///         finite (the message counts frames and replicas from 0), or invalid options
TrajectoryRdf rdf_of_positions(std::span<const double> positions_A, int replicas, int molecules,
                               const TrajectoryRdfOptions& options);

}  // namespace tarn
