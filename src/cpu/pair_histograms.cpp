#include "pair_histograms.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tarn/core/replica_map.hpp"

namespace tarn::cpu {
namespace {

/// Molecules whose distances one thread counts at a time.
constexpr int kCountGrain = 32;

/// Numbers of one group of replicas, all pair classes.
std::size_t counts_of_group(const PairCountRequest& request) {
  return static_cast<std::size_t>(kPairClasses) * static_cast<std::size_t>(request.bins + 1);
}

}  // namespace

void PairHistograms::prepare(const PairCountRequest& request) {
  if (!request.enabled) return;
  counts.resize(static_cast<std::size_t>(request.groups) * counts_of_group(request));
  samples.resize(static_cast<std::size_t>(request.groups));
}

void count_group(const PairCountRequest& request, const KernelTable& kernels,
                 const GroupLayout& layout, const Group& group, const AlignedVector<double>& q,
                 TeamMember& member, PairHistograms& histograms) {
  const int lanes = kernels.lanes, n = layout.molecules();
  std::array<std::uint64_t*, kPadding> of_lanes{};
  for (int first = 0; first < layout.first_slot(group.replicas); first += lanes) {
    for (int l = 0; l < (group.lanes_are_replicas ? lanes : 1); ++l) {
      const int r = (first + l) / layout.copies();
      of_lanes[l] = nullptr;
      if (r >= group.replicas || group.stopped[r]) continue;
      const auto id = static_cast<std::int64_t>(group.ids[first + l]);
      const auto count_group = static_cast<std::size_t>(sample_group(id, request.groups));
      of_lanes[l] = histograms.counts.data() + count_group * counts_of_group(request);
      if (member.rank() == 0) ++histograms.samples[count_group];
    }
    member.for_each_task((n + kCountGrain - 1) / kCountGrain, [&](int k) {
      kernels.count_pairs({q.data() + static_cast<std::size_t>(first / lanes * n) * 9 *
                                          static_cast<std::size_t>(lanes),
                           group.lanes_are_replicas,
                           n,
                           {request.pairs[0], request.pairs[1], request.pairs[2]},
                           request.bins / request.r_max_A,
                           request.bins,
                           k * kCountGrain,
                           std::min((k + 1) * kCountGrain, n),
                           of_lanes.data()});
    });
  }
}

void add_counts(const PairCountRequest& request, const PairHistograms& histograms, Frame& frame) {
  if (histograms.counts.empty()) return;
  const std::size_t rows = static_cast<std::size_t>(request.groups) * kPairClasses;
  const std::size_t bins = static_cast<std::size_t>(request.bins);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t b = 0; b < bins; ++b) {
      frame.pair_counts[row * bins + b] += histograms.counts[row * (bins + 1) + b];
    }
  }
  for (std::size_t g = 0; g < histograms.samples.size(); ++g) {
    frame.pair_samples[g] += histograms.samples[g];
  }
}

}  // namespace tarn::cpu
