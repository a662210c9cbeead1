#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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
    std::vector<int> group(replica_ids.size());
    for (std::size_t r = 0; r < group.size(); ++r) {
      group[r] = static_cast<int>(replica_ids[r] % request.groups);
    }
    group_ = DeviceBuffer<int>(group);
    device_ = {true,
               {request.pairs[0], request.pairs[1], request.pairs[2]},
               bh2,
               request.bins / request.r_max_A,
               request.bins,
               request.every,
               request.first_step,
               group_.get(),
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
  DeviceBuffer<int> group_;
  DeviceBuffer<unsigned long long> counts_, samples_;
};

}  // namespace tarn::gpu
