#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Trajectory files of a run, and the table of file formats, which decks, readers and commands use.

namespace tarn::io {

/// What all frames of a trajectory have in common.
struct TrajectoryInfo {
  std::string folder;       ///< exists
  int replicas = 1;         ///< written replicas, numbered from 0
  bool numbered = true;     ///< whether file names carry the replica number
  int molecules = 0;        ///< in a frame, of all beads
  std::string model;        ///< empty: unknown
  std::string potential{};  ///< name of what computed the forces; empty: the model
  std::string isotopes{};   ///< isotope_names(); empty: none
  std::int64_t every = 1;   ///< steps between frames
  double timestep_fs = 0.0;
  /// Program, system and physics, without time, path or step count.
  std::string provenance;
  /// Full name of the only file, in place of `folder` and the default names. No other file is
  /// written then.
  std::string path{};
  std::int64_t first_step = 0;  ///< of the first frame
  /// Whether all frames have velocities; H5MD writes them only if this is set.
  bool velocities = false;
  /// 3, or 4 with the site M behind the atoms of each molecule, in all formats except H5MD.
  int sites_per_molecule = 3;
  /// Bath temperatures of the written replicas if they differ, or of the only replica; otherwise
  /// empty.
  std::vector<double> baths_K{};
  /// Beads of ring polymers in each frame, one after the other; 1: centroids or classical nuclei.
  int beads = 1;
  std::optional<int> bead{};  ///< number of the only bead in the frames
};

/// One configuration of one replica.
struct TrajectoryFrame {
  std::int64_t replica = 0;
  std::int64_t step = 0;
  double time_ps = 0.0;
  std::span<const double> positions_A;  ///< [molecule][3 sites_per_molecule]
  /// Of the same size, or empty; formats without velocities ignore them.
  std::span<const double> velocities_A_per_akma{};
};

/// Writes the trajectories of a run. Frames written before save() survive a crash of the program,
/// and load() continues from them.
class TrajectoryWriter {
 public:
  virtual ~TrajectoryWriter() = default;

  /// Starts new files. @throws IoError
  virtual void create() = 0;
  /// @throws IoError; NumericalError when a number is not finite
  virtual void append(const TrajectoryFrame& frame) = 0;
  /// Writes all buffers to the disk and their lengths to `out`. @throws IoError
  virtual void save(std::ostream& out) = 0;
  /// Truncates the files to the lengths of save(). @throws IoError if they are shorter
  virtual void load(std::istream& in) = 0;
  /// Completes the files. @throws IoError
  virtual void finish() = 0;
  /// Messages about the frames written since create() or load().
  virtual Messages messages() const { return {}; }
};

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
