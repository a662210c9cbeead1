#pragma once

#include <memory>
#include <string>

#include "tarn/engine.hpp"

namespace tarn {

/// One line that says why cuSOLVER is unavailable: it is not in this build or cannot be loaded.
/// Empty if it is available.
std::string cusolver_problem();

/// @throws DeviceError if the device cannot be used, or the build has no CUDA
void check_cuda_device(int device_index);

/// Makes the CUDA engine on one device.
/// @param threads host threads that compute the fields of snapshots; 0: all
/// @throws DeviceError if the device cannot be used or has too little memory, or the build has no
///         CUDA
std::unique_ptr<Engine> make_cuda_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int device_index = 0,
                                         int threads = 0);

}  // namespace tarn
