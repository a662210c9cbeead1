#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Conversion of trajectories to another format.

namespace tarn::io {

struct ConvertOptions {
  std::string from;  ///< in any format that tarn reads
  /// The extension gives the format. For several replicas in a format of one replica per file,
  /// "a.xyz" stands for "a-0000.xyz" and so on.
  std::string to;
  std::string model{};      ///< empty: the model that the file names
  FrameSelection frames{};  ///< to convert
  /// Whether the site M of a four-site model is written behind the atoms of each molecule; not
  /// possible in H5MD.
  bool sites = false;
  std::optional<int> beads{};             ///< in each frame; empty: as the file says, or one
  std::optional<WaterModel> own_model{};  ///< in place of the built-in model of that name
  /// Called for every frame: whether frames are written (or scanned), frames done, and frames in
  /// the file (0 while scanning). Returning false interrupts the conversion.
  std::function<bool(bool writing, std::int64_t done, std::int64_t frames)> on_progress{};
};

struct Conversion {
  bool interrupted = false;        ///< nothing was written
  std::vector<std::string> files;  ///< that were written
  std::int64_t frames = 0;         ///< of all replicas
  std::int64_t replicas = 0;
  int molecules = 0;  ///< of one bead
  int beads = 1;
  Messages messages;  ///< on data that is lost, and on problems of the file
};

/// Writes the frames of a trajectory in another format. The file is read twice: the first pass
/// finds problems before anything is written. Output files appear under their names when all are
/// complete. For formats that do not name atoms a "-topology.pdb" is written too.
/// @throws IoError; InputError for a file that cannot be read, an unknown extension, a selection
///         without frames, sites that the model or the format does not have, and numbers that do
///         not fit the format
Conversion convert_trajectory(const ConvertOptions& options);

}  // namespace tarn::io
