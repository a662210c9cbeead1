#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::io {

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
