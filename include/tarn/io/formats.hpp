#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"

/// @file
/// The table of file formats, which decks, readers and commands use.

namespace tarn::io {

enum class FileFormat { xyz, h5md, dcd, xtc, trr, gro, pdb };

struct Format {
  FileFormat id = FileFormat::xyz;
  std::string_view name;     ///< as decks have it
  std::string_view meaning;  ///< in a few words
  /// With the dot; tarn writes the first one.
  std::vector<std::string_view> extensions;
  /// Whether a file may have this format, by features that no other format has.
  bool (*looks_like)(std::string_view beginning) = nullptr;
  std::unique_ptr<FrameReader> (*open)(const std::string& path) = nullptr;
  std::unique_ptr<TrajectoryWriter> (*write)(const TrajectoryInfo& info) = nullptr;
  /// Text of a file with one structure; null for a format of trajectories only.
  std::string (*structure_text)(const Structure& structure) = nullptr;
  bool has_velocities = false;        ///< whether its trajectories can have velocities
  bool names_atoms = true;            ///< whether frames name their atoms
  bool has_steps_of_32_bits = false;  ///< whether each frame has its own step, in 32 bits
  bool has_comments = true;           ///< whether it can name the model and the number of beads
  bool keeps_digits = false;  ///< whether positions far from the origin are as exact as near it
};

/// All formats, in the order of the documentation.
const std::vector<Format>& formats();
const Format& format_of(FileFormat id);

/// "xyz, h5md, ..." and ".xyz, .h5, ...": the formats of trajectories.
std::string format_names();
std::string format_extensions();

/// The format of a structure file of that name. @throws InputError
const Format& format_for_writing(const std::string& path);

/// The format of a trajectory of that name. @throws InputError
const Format& trajectory_format_of(const std::string& path);

/// Opens a structure or a trajectory in the format of its extension or, if the extension is
/// unknown, of its contents.
/// @throws IoError; InputError for a file that is empty or compressed, and for an extension and
///         contents of different formats
std::unique_ptr<FrameReader> open_frames(const std::string& path);

/// Whether this build reads and writes H5MD.
bool has_h5md();

}  // namespace tarn::io
