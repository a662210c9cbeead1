#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interface/moments.hpp"
#include "io/structure_checks.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/core/message.hpp"
#include "tarn/engine.hpp"
#include "tarn/io/structure.hpp"

namespace tarn {

/// Reads the frames of several trajectories of one cluster, file by file. Each file is one replica
/// unless its frames name several, in any order.
class TrajectoryFrames {
 public:
  /// @param beads in each frame; empty: as the frames say, or one
  /// @throws InputError for a file given twice
  TrajectoryFrames(std::vector<std::string> files, io::FrameSelection selection,
                   std::optional<int> beads = {});

  /// The next selected frame; empty at the end. @throws IoError; InputError for unreadable files,
  /// files that differ in the number of molecules or beads or the model, files without frames,
  /// broken molecules, and if no frames are selected
  std::optional<io::Structure> next();
  /// Replica of the last frame, counted from 0 over all files, and index of the frame within the
  /// replica, counting unselected frames too.
  std::int64_t replica() const { return place_.replica; }
  std::int64_t place() const { return place_.frame; }

  /// Number of replicas so far, including those without selected frames.
  std::int64_t replicas_seen() const { return places_.replicas(); }
  int molecules() const { return molecules_ / beads_; }  ///< of one bead
  int beads() const { return beads_; }
  /// Model of the first frame that names one; or empty.
  const std::string& model() const { return model_; }
  /// Potential of the first frame that names one; or empty.
  const std::string& potential() const { return potential_; }
  bool has_sites() const { return has_sites_; }  ///< whether any frame has massless sites
  bool have_several_baths() const { return several_baths_; }
  /// Beginning of the `#` line of a table of these frames. @param model name of the water model
  std::string provenance(const std::string& model) const;
  /// Messages about ignored contents of the files.
  const Messages& messages() const { return messages_; }

 private:
  void check_bath(const io::Structure& frame);

  std::vector<std::string> files_;
  io::FrameSelection selection_;
  std::size_t file_ = 0;
  std::unique_ptr<io::FrameReader> reader_;
  std::int64_t frames_of_file_ = 0;  // frames read from the current file
  io::ReplicaNumbering places_;
  io::FrameIndex place_;  // of the last frame
  std::int64_t frames_taken_ = 0;
  std::optional<int> given_beads_;
  int molecules_ = 0;  // in a frame, of all beads
  int beads_ = 1;
  std::string model_, potential_;
  bool has_sites_ = false;
  std::optional<double> bath_K_;  // of the first frame with a bath
  bool several_baths_ = false;
  Messages messages_;
};

/// Fills the rows that follow from the positions of a Frame, for frames of files, which no engine
/// measures.
class PositionMeasures {
 public:
  using Indices = std::map<std::int64_t, analysis::LindemannIndex>;  ///< by replica id

  /// @param indices Lindemann sums to continue
  PositionMeasures(const WaterModel& model, const MeasureSettings& settings, Indices indices = {})
      : model_(model),
        settings_(settings),
        groups_(settings.moment_groups),
        indices_(std::move(indices)) {}

  /// Fills kShape, kParts, kLindemann, their moments and kRadialCounts of `fields`, and adds the
  /// distances of the frame to the Lindemann sums where the settings ask for them.
  /// @param frame with positions; kParts takes the velocities as 0 where there are none
  void fill(unsigned fields, Frame& frame);
  /// Lindemann sums so far.
  const Indices& indices() const { return indices_; }

 private:
  WaterModel model_;
  MeasureSettings settings_;
  ReplicaGroups groups_;
  Indices indices_;
};

}  // namespace tarn
