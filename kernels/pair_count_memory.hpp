#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interface/moments.hpp"
#include "kernels/device_buffer.hpp"
#include "kernels/device_state.cuh"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// The device memory of pair-distance counts.
class PairCountMemory {
 public:
  /// Counts nothing.
  PairCountMemory() = default;
  /// Allocates on the current device.
  /// @param bh2 distances are those of x + bh2 a
  PairCountMemory(const PairCountRequest& request, const std::vector<std::int64_t>& replica_ids,
                  double bh2)
      : request_(request) {
    if (!request.enabled) return;
    counts_ = DeviceBuffer<unsigned long long>(counts(), 0);
    samples_ = DeviceBuffer<unsigned long long>(groups(), 0);
    ReplicaGroups sorted(request.groups);
    sorted.sort(replica_ids);
    std::vector<int> begins{0};
    int most = 0;
    for (int g = 0; g < request.groups; ++g) {
      begins.push_back(begins.back() + sorted.replicas(g));
      most = std::max(most, sorted.replicas(g));
    }
    by_group_ = DeviceBuffer<int>(sorted.places());
    begins_ = DeviceBuffer<int>(begins);
    device_ = {{request.pairs[0], request.pairs[1], request.pairs[2]},
               bh2,
               request.bins / request.r_max_A,
               request.bins,
               request.groups,
               by_group_.get(),
               begins_.get(),
               most,
               counts_.get(),
               samples_.get()};
  }

  /// What kernels take.
  const DeviceCounts& device() const { return device_; }
  const PairCountRequest& request() const { return request_; }
  bool is_due(std::int64_t step) const {
    return request_.enabled && step >= request_.first_step && step % request_.every == 0;
  }
  void download(Frame& frame) const {
    frame.pair_counts.assign(counts(), 0);
    frame.pair_samples.assign(groups(), 0);
    if (!request_.enabled) return;
    std::ranges::copy(counts_.download(), frame.pair_counts.begin());
    std::ranges::transform(samples_.download(), frame.pair_samples.begin(),
                           [](unsigned long long n) { return static_cast<std::int64_t>(n); });
  }

 private:
  std::size_t groups() const { return static_cast<std::size_t>(request_.groups); }
  std::size_t counts() const {
    return groups() * kPairClasses * static_cast<std::size_t>(request_.bins);
  }

  PairCountRequest request_;
  DeviceCounts device_{};
  DeviceBuffer<int> by_group_, begins_;
  DeviceBuffer<unsigned long long> counts_, samples_;
};

}  // namespace tarn::gpu
