#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Of a frame.
struct FrameIndex {
  std::int64_t replica = 0;  ///< over all files, counted from 0 as they appear
  std::int64_t number = 0;   ///< of the replica in its file
  std::int64_t frame = 0;    ///< in the replica, counted from 0
};

/// Which replicas frames are of, and where in them, by files and the names that frames give their
/// replicas. Frames of several replicas may stand in any order.
///
/// A replica has the number at the end of its name, "3" or "replica-0003". Where there is none, or
/// another replica of the file has it, it has the place in which it appears in the file, or the
/// next number that is free.
class ReplicaNumbering {
 public:
  /// @param chosen numbers of the replicas that count; empty: all
  explicit ReplicaNumbering(std::vector<std::int64_t> chosen = {}) : chosen_(std::move(chosen)) {}

  /// Counts one more frame. @return nothing where its replica does not count
  std::optional<FrameIndex> next(const std::string& file, const std::string& name);
  /// @throws InputError where numbers were chosen and the frame names no replica
  std::optional<FrameIndex> next(const Structure& frame, const FrameReader& reader);

  /// Replicas that count, so far, of all files.
  std::int64_t replicas() const { return replicas_; }
  /// Their numbers.
  const std::set<std::int64_t>& numbers() const { return numbers_; }
  /// On numbers that are not those of the names, file by file, for people.
  std::vector<std::string> notes() const;

 private:
  struct File {
    std::string name;
    // Of the next frame, by the names of the replicas; nothing for those that do not count.
    std::map<std::string, std::optional<FrameIndex>> next;
    std::set<std::int64_t> numbers;                                // of all replicas
    std::vector<std::pair<std::string, std::int64_t>> unnumbered;  // names, and what they got
  };

  std::optional<FrameIndex> first_place(File& file, const std::string& name);

  std::vector<std::int64_t> chosen_;
  std::vector<File> files_;  // the last one is being read
  std::int64_t replicas_ = 0;
  std::set<std::int64_t> numbers_;
};

}  // namespace tarn::io
