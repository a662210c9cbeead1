#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

/// @file
/// Trajectories of a run: what is written of its replicas, in whatever format.

namespace tarn::io {

/// What all frames of a trajectory have in common.
struct TrajectoryInfo {
  std::string folder;    ///< exists
  int replicas = 1;      ///< that are written, numbered from 0
  bool numbered = true;  ///< whether file names carry the replica number
  int molecules = 0;
  std::string model;       ///< empty: not known
  std::int64_t every = 1;  ///< steps between frames
  double timestep_fs = 0.0;
  /// Program, system and physics: no time, no path, no step count.
  std::string provenance;
  /// Of one file for all replicas, or of the only one: its whole name, in place of the names above.
  /// Nothing is written beside it then.
  std::string path{};
  std::int64_t first_step = 0;  ///< of the first frame
  /// Whether all frames have velocities; H5MD takes them only where it was told so.
  bool velocities = false;
  /// 3, or 4 where the site M stands behind the atoms of each molecule: all formats but H5MD have a
  /// place for it.
  int sites_per_molecule = 3;
  /// Of the replicas that are written, where their baths have several temperatures, or of the only
  /// one; else empty.
  std::vector<double> baths_K{};
};

/// One configuration of one replica.
struct TrajectoryFrame {
  std::int64_t replica = 0;
  std::int64_t step = 0;
  double time_ps = 0.0;
  std::span<const double> positions_A;  ///< [molecule][3 sites_per_molecule]
  /// As many, or empty; formats that have no place for them leave them out.
  std::span<const double> velocities_A_per_akma{};
};

/// Writes the trajectories of a run. What was there at save() survives the death of the program at
/// any later moment, and load() goes on from it as if nothing had happened.
class TrajectoryWriter {
 public:
  virtual ~TrajectoryWriter() = default;

  /// Starts new files. @throws IoError
  virtual void create() = 0;
  /// @throws IoError; NumericalError when a number is not finite
  virtual void append(const TrajectoryFrame& frame) = 0;
  /// Brings everything to the disk and notes how much that is. @throws IoError
  virtual void save(std::ostream& out) = 0;
  /// Cuts the files back to what save() noted. @throws IoError when they hold less
  virtual void load(std::istream& in) = 0;
  /// Leaves complete files. @throws IoError
  virtual void finish() = 0;
  /// What has to be told of what was written since create() or load().
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace tarn::io
