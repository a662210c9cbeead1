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
    ReplicaGroups sorted(request.groups);
    sorted.sort(replica_ids);
    std::vector<int> begins{0};
    int most = 0;
    for (int g = 0; g < request.groups; ++g) {
      begins.push_back(begins.back() + sorted.replicas(g));
      most = std::max(most, sorted.replicas(g));
    }
    device_ = {{request.pairs[0], request.pairs[1], request.pairs[2]},
               bh2,
               request.bins / request.r_max_A,
               request.bins,
               request.groups,
               arrays_.upload(sorted.places()),
               arrays_.upload(begins),
               most,
               arrays_.make<unsigned long long>(counts(), 0),
               arrays_.make<unsigned long long>(groups(), 0)};
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
    std::ranges::copy(downloaded(device_.counts, counts()), frame.pair_counts.begin());
    std::ranges::transform(downloaded(device_.samples, groups()), frame.pair_samples.begin(),
                           [](unsigned long long n) { return static_cast<std::int64_t>(n); });
  }

 private:
  std::size_t groups() const { return static_cast<std::size_t>(request_.groups); }
  std::size_t counts() const {
    return groups() * kPairClasses * static_cast<std::size_t>(request_.bins);
  }

  PairCountRequest request_;
  DeviceCounts device_{};
  DeviceArrays arrays_;
};

}  // namespace tarn::gpu
