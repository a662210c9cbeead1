#pragma once

#include <cstdint>
#include <vector>

#include "group.hpp"
#include "kernel_table.hpp"
#include "tarn/engine.hpp"
#include "thread_team.hpp"

namespace tarn::cpu {

/// Histograms of pair distances that one thread has filled. Integers, so that their sum over the
/// threads is independent of which thread counted what.
struct PairHistograms {
  std::vector<std::uint64_t> counts;  ///< [group][class][bins + 1], the last bin beyond r_max
  std::vector<std::int64_t> samples;  ///< [group]

  /// Allocates the memory, unless it exists or nothing is to be counted.
  void prepare(const PairCountRequest& request);
};

/// Whether distances are counted at a step.
inline bool counts_are_due(const PairCountRequest& request, std::int64_t step) {
  return request.enabled && step >= request.first_step && step % request.every == 0;
}

/// Adds the distances of the running replicas of a group at the reported positions q, of all beads
/// of ring polymers. All members of the team call; each adds to its own histograms.
void count_group(const PairCountRequest& request, const KernelTable& kernels,
                 const GroupLayout& layout, const Group& group, const AlignedVector<double>& q,
                 TeamMember& member, PairHistograms& histograms);

/// Adds the histograms of one thread to the counts of a Frame, which must have their sizes.
void add_counts(const PairCountRequest& request, const PairHistograms& histograms, Frame& frame);

}  // namespace tarn::cpu
