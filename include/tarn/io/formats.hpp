#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"

/// @file
/// The one table of file formats. Decks, readers and commands all take theirs from it.

namespace tarn::io {

enum class FileFormat { xyz, h5md, dcd, xtc, trr, gro, pdb };

struct Format {
  FileFormat id = FileFormat::xyz;
  std::string_view name;     ///< as decks have it
  std::string_view meaning;  ///< in a few words
  /// With the dot; tarn writes the first one.
  std::vector<std::string_view> extensions;
  /// Whether a file with this beginning can be one, judged by what no other format has.
  bool (*looks_like)(std::string_view beginning) = nullptr;
  std::unique_ptr<FrameReader> (*open)(const std::string& path) = nullptr;
  std::unique_ptr<TrajectoryWriter> (*write)(const TrajectoryInfo& info) = nullptr;
  /// A file that holds one structure, or nothing where the format is for trajectories only.
  std::string (*structure_text)(const Structure& structure) = nullptr;
  bool has_velocities = false;        ///< whether trajectories in it have a place for velocities
  bool names_atoms = true;            ///< whether it says what its atoms are
  bool has_steps_of_32_bits = false;  ///< whether each frame has its own step, in 32 bits
};

/// In the order of the documentation.
const std::vector<Format>& formats();
const Format& format_of(FileFormat id);

/// "xyz, h5md, ..." and ".xyz, .h5, ...": those of trajectories.
std::string format_names();
std::string format_extensions();

/// The format in which a structure is written under that name. @throws InputError
const Format& format_for_writing(const std::string& path);

/// The format in which a trajectory is written under that name. @throws InputError
const Format& trajectory_format_of(const std::string& path);

/// Opens a structure or a trajectory in the format of its extension. A name that says one format
/// and contents that are another's are refused; where the name says nothing, the contents decide.
/// @throws IoError, InputError
std::unique_ptr<FrameReader> open_frames(const std::string& path);

/// Whether this build reads and writes H5MD.
bool has_h5md();

}  // namespace tarn::io
