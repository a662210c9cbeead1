#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tarn/io/structure.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// From one format of trajectories to another.

namespace tarn::io {

struct ConvertOptions {
  std::string from;  ///< of any format that tarn reads
  /// Its name says the format. Where several replicas go to a format of one replica a file,
  /// "a.xyz" stands for "a-0000.xyz" and so on.
  std::string to;
  std::string model{};      ///< empty: what the file says
  FrameSelection frames{};  ///< those that are taken
  /// Whether M of a four-site model stands behind the atoms of each molecule, in all formats but
  /// H5MD.
  bool sites = false;
  std::optional<WaterModel> own_model{};  ///< in place of the known one of that name
  /// Called often: whether the file is being read or written, frames so far, and of how many (0:
  /// not known yet). False ends it.
  std::function<bool(bool writing, std::int64_t done, std::int64_t frames)> on_progress{};
};

struct Conversion {
  bool interrupted = false;        ///< nothing was written
  std::vector<std::string> files;  ///< that now exist
  std::int64_t frames = 0;         ///< of all replicas
  std::int64_t replicas = 0;
  int molecules = 0;
  std::vector<std::string> notes;  ///< what the new files do not hold, and what is odd
};

/// Writes the frames of a trajectory in another format. The file is read twice: first to see what
/// is there, so that nothing is begun of what cannot be finished. What is written appears under its
/// name when all of it is whole. Formats that name no atoms have a "-topology.pdb" beside them.
/// @throws IoError; InputError for a file that cannot be read, a name that says no format, options
///         that leave no frame, and sites that model or format do not have
Conversion convert_trajectory(const ConvertOptions& options);

}  // namespace tarn::io
