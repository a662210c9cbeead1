#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replica_frames.hpp"
#include "tarn/core/message.hpp"
#include "tarn/io/convert.hpp"
#include "tarn/io/formats.hpp"

namespace tarn::io {

/// The selected frames of one replica of a trajectory.
struct ReplicaContents {
  std::int64_t number = 0;  ///< of the replica in the file
  ReplicaClock clock{};
  std::optional<double> bath_K{};  ///< of the first selected frame
};

/// Results of a first pass through a trajectory, which prevents conversions that would fail later.
struct TrajectoryContents {
  std::vector<ReplicaContents> replicas;       ///< with at least one selected frame
  std::map<std::int64_t, std::size_t> places;  ///< in `replicas`, by number
  std::set<std::int64_t> found;                ///< numbers of all selected replicas in the file
  std::int64_t frames = 0;                     ///< in the file, selected or not
  int molecules = 0;                           ///< in a frame, of all beads
  int beads = 1;
  std::string model;                      ///< from the options or the frames; empty: unknown
  std::string potential;                  ///< of the first frame; empty: the model
  std::vector<double> first_positions_A;  ///< of the first selected frame
  std::string end_warning;                ///< what is missing at the end of the file, or empty
  Messages reader_messages;               ///< on changes that the reader made to the atoms
  Messages numbering;                     ///< on the numbers of replicas
  std::string broken;                     ///< the first problem with a molecule, or empty
  bool has_box = false, has_sites = false;
  bool steps = true, times = true;  ///< whether all selected frames have them
  bool some_velocities = false, all_velocities = true;

  std::int64_t selected_frames() const;
  /// Step of the first frame; without steps frames are counted.
  std::int64_t first_step(const ReplicaClock& clock) const;
  /// Steps between frames.
  std::int64_t every(const ReplicaClock& clock) const;
  std::int64_t largest_step() const;
  /// Time step by the first two frames, or the only one; without times frames are 1 ps apart.
  double step_ps(const ReplicaClock& clock) const;
};

/// The step of a frame, if its comment has one.
std::optional<std::int64_t> step_of(const Structure& frame);

/// Reads and checks all frames. Broken molecules are noted, coincident atoms are an error.
/// @return nothing if ConvertOptions::on_progress returned false
/// @throws IoError, InputError
std::optional<TrajectoryContents> scan_trajectory(const ConvertOptions& options);

/// Selected replicas that the file does not contain, or nothing.
std::optional<Message> warning_of_missing_replicas(const ConvertOptions& options,
                                                   const TrajectoryContents& contents);

/// Messages about data lost in a conversion to a format and on peculiarities of the file.
Messages conversion_messages(const ConvertOptions& options, const Format& format,
                             const TrajectoryContents& contents);

}  // namespace tarn::io
