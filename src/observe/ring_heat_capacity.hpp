#pragma once

#include <memory>

#include "observable.hpp"

namespace tarn {

/// Writes heat_capacity.csv of ring polymers, from the samples of [observe.path_integral].
/// @return null without a thermostat or without beads
std::unique_ptr<Observer> make_ring_heat_capacity(const ObserveTable& section,
                                                  const ObserverContext& info);

}  // namespace tarn
