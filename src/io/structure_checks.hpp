#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
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

}  // namespace tarn::io
