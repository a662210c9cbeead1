#pragma once

#include <memory>
#include <string>

#include "tarn/engine.hpp"

namespace tarn {

/// What of a system the CUDA engine does not do: one line for a message, or empty if it does all.
std::string cuda_engine_refuses(const System& system);

/// Why dense solves cannot be done on a device, in one line: cuSOLVER is not in this build, or
/// cannot be loaded here. Empty if it is there.
std::string cusolver_problem();

/// Makes the CUDA engine on one device; its state stays there.
/// @throws DeviceError when the device cannot be used, has too little memory, or the build has no
///         CUDA; InputError for a system that cuda_engine_refuses()
std::unique_ptr<Engine> make_cuda_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int device_index = 0);

}  // namespace tarn
