#pragma once

#include <functional>
#include <span>

#include "steps/quench.hpp"
#include "tarn/system.hpp"

namespace tarn {

/// Quenches clusters of up to gpu::kMostInWarp molecules of a pairwise model on a CUDA device, all
/// at the same time. The results of a cluster do not depend on the others.
/// @param system scheme verlet; the model, its field and the number of molecules are used
/// @param positions_A [cluster][molecule][9]; replaced
/// @param numbers [cluster][QuenchNumber]: those of begin_quench(); replaced
/// @param should_continue called often; if it returns false, the quenches end as they are
/// @throws DeviceError if the device cannot be used or has too little memory, or the build has no
///         CUDA
void quench_on_cuda(const System& system, const QuenchRules& rules, int device_index,
                    std::span<double> positions_A, std::span<double> numbers,
                    const std::function<bool()>& should_continue);

}  // namespace tarn
