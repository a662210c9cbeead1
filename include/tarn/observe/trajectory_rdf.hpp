#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Radial distribution functions of trajectories that are files already.

namespace tarn {

struct TrajectoryRdfOptions {
  std::vector<std::string> files;  ///< of any format that tarn reads
  std::array<bool, kPairClasses> pairs{true, true, true};
  double r_max_A = 12.0;
  double bin_width_A = 0.05;  ///< r_max_A is a whole number of them
  io::FrameSelection frames{};
};

struct TrajectoryRdf {
  std::string csv;  ///< with the columns of the rdf.csv of a run
  std::int64_t frames = 0;
  std::int64_t replicas = 0;  ///< files, or those that the frames of a file name
  int molecules = 0;
  std::vector<std::string> notes{};  ///< on what the files hold and is not counted, for people
};

/// Counts the distances between atoms of different molecules in all frames of all files.
///
/// All replicas are pooled; frames that name no model are taken as of that of the others. Errors
/// come from their spread if there are 16 or more, and otherwise from blocks of frames, in
/// their order.
/// @param path named in messages only
/// @throws IoError; InputError for files that cannot be read, that differ in their number of
///         molecules or their model, that are given twice or hold no frame, and for options that
///         make no sense
TrajectoryRdf rdf_of_trajectories(const TrajectoryRdfOptions& options, const std::string& path);

}  // namespace tarn
