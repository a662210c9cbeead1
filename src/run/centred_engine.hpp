#pragma once

#include <memory>

#include "tarn/engine.hpp"

namespace tarn {

/// Wraps an engine: positions in Frames are relative to the centre of mass of each replica. The
/// state and all quantities computed from it are unchanged.
std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const WaterModel& model);

}  // namespace tarn
