#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Radial distribution functions of trajectory files.

namespace tarn {

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
