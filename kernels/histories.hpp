#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/device_state.cuh"
#include "steps/measure.hpp"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// A history in the memory of the current device.
/// @param state the replicas or centroids, after launches of what computes their present state
/// @return null if no replica is followed or one has no memory to continue from; if it would take
///         more than half of the free memory or, for the transform of a segment, more shared memory
///         than a block may have
std::unique_ptr<History> make_history(const HistoryRequest& request, const MeasureNumbers& numbers,
                                      const std::vector<std::int64_t>& replica_ids,
                                      cudaStream_t stream,
                                      const std::function<const DeviceState&()>& state);

}  // namespace tarn::gpu
