#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/replica_numbering.hpp"
#include "tarn/io/structure.hpp"

namespace tarn {

/// The frames of several trajectories of one cluster, file after file. A file is a replica, or
/// several where its frames say so, in any order.
class TrajectoryFrames {
 public:
  /// @throws InputError for a file that is given twice
  TrajectoryFrames(std::vector<std::string> files, io::FrameSelection selection);

  /// The next frame that counts, nothing at the end. @throws IoError; InputError for files that
  /// cannot be read, that differ in their number of molecules or their model, or that hold no
  /// frame, for molecules that are broken, and where no frame was left
  std::optional<io::Structure> next();
  /// Of the frame: the replica, counted from 0 over all files, and its place in that, counted from
  /// 0 with those that are left out.
  std::int64_t replica() const { return place_.replica; }
  std::int64_t place() const { return place_.frame; }

  /// So far, with replicas all of whose frames are left out.
  std::int64_t replicas_seen() const { return places_.replicas(); }
  int molecules() const { return molecules_; }
  const std::string& model() const { return model_; }  ///< of the first that names one; or empty
  bool has_sites() const { return has_sites_; }        ///< any frame, beside its atoms
  bool have_several_baths() const { return several_baths_; }
  /// Beginning of the `#` line of a table of all of them, of molecules that are called so.
  std::string provenance(const std::string& model) const;
  /// On what the files hold and nobody looks at, for people.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void check_bath(const io::Structure& frame);

  std::vector<std::string> files_;
  io::FrameSelection selection_;
  std::size_t file_ = 0;
  std::unique_ptr<io::FrameReader> reader_;
  std::int64_t frames_of_file_ = 0;  // so far
  io::ReplicaNumbering places_;
  io::FrameIndex place_;  // of the last frame
  std::int64_t frames_taken_ = 0;
  int molecules_ = 0;
  std::string model_;
  bool has_sites_ = false;
  std::optional<double> bath_K_;  // of the first frame that names one
  bool several_baths_ = false;
  std::vector<std::string> notes_;
};

}  // namespace tarn
