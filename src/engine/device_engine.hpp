#pragma once

#include <memory>

#include "tarn/engine.hpp"

namespace tarn {

/// Makes an engine on one device.
/// @throws what make_engine() throws; InputError if the name selects several devices
std::unique_ptr<Engine> make_device_engine(const System& system, const State& start,
                                           const PairCountRequest& counts,
                                           const DeviceRequest& device);

}  // namespace tarn
