#pragma once

#include <cstdint>

#include "tarn/run.hpp"

namespace tarn {

/// Simulated time in a day of the wall clock.
constexpr double ns_per_day(double steps_per_second, double timestep_fs) {
  return steps_per_second * timestep_fs * 1e-6 * 86400.0;
}

/// The speed so far, and the time that is left at this speed. What depends on the time of a step is
/// left at 0.
/// @param first_step where this program began or resumed
Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds);

/// The same of water: simulated times too.
/// @param replicas that go on
Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds, double timestep_fs, std::int64_t replicas);

}  // namespace tarn
