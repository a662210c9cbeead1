#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/device_buffer.hpp"
#include "kernels/replica_memory.hpp"
#include "tarn/state.hpp"

namespace tarn::gpu {

/// Copies of the state for checkpoints: made on the stream of the steps, and copied into
/// page-locked memory on a second stream while later steps run. The memory is kept for the next
/// copy.
class StateCopies {
 public:
  explicit StateCopies(int device);
  StateCopies(const StateCopies&) = delete;
  StateCopies& operator=(const StateCopies&) = delete;
  ~StateCopies();

  /// Starts a copy of ReplicaMemory::download().
  /// @param threads of the host, for the returned function
  /// @param stream of the steps
  /// @return waits for the copy, on any thread; empty if the last copy has not been taken yet, or
  ///         the device has too little memory
  std::function<State()> begin(const ReplicaMemory& replicas, std::int64_t step, int threads,
                               cudaStream_t stream);

 private:
  bool reserve(std::size_t numbers);

  int device_;
  cudaStream_t copies_ = nullptr;
  cudaEvent_t made_ = nullptr, copied_ = nullptr;
  DeviceBuffer<double> staged_;  ///< in the order of State: positions, velocities, heat
  HostCopy<double> host_;
  /// Whether a copy was started and not taken. The returned function may outlive this object.
  std::shared_ptr<std::atomic<bool>> is_taken_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace tarn::gpu
