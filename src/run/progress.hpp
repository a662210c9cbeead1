#pragma once

#include <cstdint>

#include "tarn/run.hpp"

namespace tarn {

/// Simulated time per day of wall-clock time.
constexpr double ns_per_day(double steps_per_second, double timestep_fs) {
  return steps_per_second * timestep_fs * 1e-6 * 86400.0;
}

/// Speed so far, and time left at this speed. Simulated times remain 0.
/// @param first_step step at which this program started or resumed
Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds);

/// The same for water, with simulated times.
/// @param replicas number of running replicas
Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds, double timestep_fs, std::int64_t replicas);

}  // namespace tarn
