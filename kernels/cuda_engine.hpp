#pragma once

#include <memory>
#include <string>

#include "tarn/engine.hpp"

namespace tarn {

/// Why dense solves cannot be done on a device, in one line: cuSOLVER is not in this build, or
/// cannot be loaded here. Empty if it is there.
std::string cusolver_problem();

/// Makes the CUDA engine on one device; its state stays there. The threads are those of the host,
/// which measure what observers ask for; 0: all.
/// @throws DeviceError when the device cannot be used, has too little memory, or the build has no
///         CUDA
std::unique_ptr<Engine> make_cuda_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int device_index = 0,
                                         int threads = 0);

}  // namespace tarn
