#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/core/message.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Checks of the atoms of a frame. All commands apply them through check_molecules(); a problem
/// names the file, the line or frame, and the molecules.

namespace tarn::io {

/// Hydrogens more than 3 A from their oxygen, as in a molecule that is broken over a periodic
/// boundary.
/// @param number of the frame in its file, counted from 0
std::vector<Problem> broken_molecule_problems(const Structure& frame, const FrameReader& reader,
                                              std::int64_t number);

/// Atoms closer than 0.1 A and oxygens closer than 0.5 A in the same bead, as of a program that
/// left atoms at the origin; or a number of molecules that is not a multiple of that of the beads.
/// @param number of the frame in its file, counted from 0
std::vector<Problem> overlap_problems(const Structure& frame, const FrameReader& reader,
                                      std::int64_t number);

/// @throws InputError for unit_problem()
void check_unit(std::span<const double> positions_A, const std::string& path);

/// Collects the problems of a file: the first five of each kind, and the number of the others.
class GroupedProblems {
 public:
  /// @param kind for the number of the others, for example "oxygens that are too close"
  void add(const std::string& kind, Problem problem) {
    std::int64_t& count = counts_[kind];
    ++count_;
    if (++count > kMostOfKind) return;
    file_ = problem.file;
    problems_.push_back(std::move(problem));
  }

  std::int64_t count() const { return count_; }

  /// The problems in order, then the numbers of the others.
  std::vector<Problem> take() {
    for (const auto& [kind, count] : counts_) {
      if (count <= kMostOfKind) continue;
      problems_.push_back({file_, 0, 0, fmt::format("and {} more {}", count - kMostOfKind, kind)});
    }
    counts_.clear();
    count_ = 0;
    return std::exchange(problems_, {});
  }

 private:
  static constexpr std::int64_t kMostOfKind = 5;

  std::map<std::string, std::int64_t> counts_;
  std::vector<Problem> problems_;
  std::string file_;
  std::int64_t count_ = 0;
};

/// Steps and times of the frames of one replica: the first one, the interval, and whether the
/// interval is constant. Without steps or times in the frames the first one is 0, and the step
/// interval is 1.
struct ReplicaClock {
  /// Adds the next frame; nothing for a step or time that it does not give.
  void add(std::optional<std::int64_t> step, std::optional<double> time_ps);

  std::int64_t frames = 0;
  bool has_steps = true, has_times = true;  ///< whether all frames give their step or time
  /// Whether all intervals equal that of the first two frames.
  bool has_even_steps = true, has_even_times = true;
  std::int64_t first_step = 0, last_step = 0, largest_step = 0;
  std::int64_t every = 1;  ///< steps between the first two frames; 1 if they do not increase
  double first_ps = 0.0, interval_ps = 0.0;
};

/// Whether times agree within the precision of a single-precision timestep, as in DCD.
bool times_agree(double a_ps, double b_ps);

/// Replica and index of a frame.
struct FrameIndex {
  std::int64_t replica = 0;  ///< over all files, in order of appearance from 0
  std::int64_t number = 0;   ///< number of the replica in its file
  std::int64_t frame = 0;    ///< index in the replica, counted from 0
};

/// Assigns frames to replicas by file and by the replica name in the frame. Frames of several
/// replicas may be in any order.
///
/// The number of a replica is the number at the end of its name, "3" or "replica-0003". If there is
/// none, or another replica of the file has it, the number is its order of appearance in the file,
/// or the next free number.
class ReplicaNumbering {
 public:
  /// @param chosen numbers of the selected replicas; empty: all
  explicit ReplicaNumbering(std::vector<std::int64_t> chosen = {}) : chosen_(std::move(chosen)) {}

  /// Adds a frame. @return nothing if its replica is not selected
  std::optional<FrameIndex> next(const std::string& file, const std::string& name);
  /// @throws InputError if replicas are selected and the frame names none
  std::optional<FrameIndex> next(const Structure& frame, const FrameReader& reader);

  /// Number of selected replicas so far, over all files.
  std::int64_t replicas() const { return replicas_; }
  /// Numbers of these replicas.
  const std::set<std::int64_t>& numbers() const { return numbers_; }
  /// Notes on numbers that differ from the names, one per file.
  Messages messages() const;

 private:
  struct File {
    std::string name;
    // The next frame of each replica, by name; nothing for replicas that are not selected.
    std::map<std::string, std::optional<FrameIndex>> next;
    std::set<std::int64_t> numbers;  // of all replicas, selected or not
    std::vector<std::pair<std::string, std::int64_t>> unnumbered;  // names and assigned numbers
  };

  std::optional<FrameIndex> first_place(File& file, const std::string& name);

  std::vector<std::int64_t> chosen_;
  std::vector<File> files_;  // the last one is being read
  std::int64_t replicas_ = 0;
  std::set<std::int64_t> numbers_;
};

}  // namespace tarn::io
