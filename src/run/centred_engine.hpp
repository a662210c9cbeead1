#pragma once

#include <memory>

#include "tarn/engine.hpp"

namespace tarn {

/// The same engine, but that its Frames hold positions about the centre of mass of each replica.
/// State and whatever is computed from it stay where they are.
std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const WaterModel& model);

}  // namespace tarn
