#pragma once

#include <memory>
#include <string>

#include "tarn/engine.hpp"

namespace tarn {

/// Checks a name before a start is prepared.
/// @throws InputError for an unknown name; DeviceError if it requires a GPU and there is none
void check_device(const std::string& name);

/// @throws InputError if a request for a Potential or a many-body model names another device than
/// the CPU
void refuse_cuda(const System& system, const DeviceRequest& device);

/// Makes an engine on one device.
/// @throws what make_engine() throws; InputError if the name selects several devices
std::unique_ptr<Engine> make_device_engine(const System& system, const State& start,
                                           const PairCountRequest& counts,
                                           const DeviceRequest& device);

}  // namespace tarn
