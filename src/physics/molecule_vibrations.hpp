#pragma once

#include <array>

#include "tarn/physics/water_model.hpp"

namespace tarn {

/// Harmonic wavenumbers of one molecule of a flexible model at its minimum, in ascending order,
/// equation (85) [1/cm].
std::array<double, 3> molecule_wavenumbers_per_cm(const WaterModel& model);

}  // namespace tarn
