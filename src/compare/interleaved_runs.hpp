#pragma once

#include <cstdint>
#include <functional>

namespace tarn {

/// Interleaves several runs in short slices, so that other load on the machine affects all of them
/// equally. A slice takes about a quarter of a second, and at most a fortieth of the whole.
/// @param advance_to advances all runs to a step
/// @param on_report called about twice a second, between slices; returning false stops the runs
/// @return the step that all runs have reached
std::int64_t run_interleaved(std::int64_t total_steps,
                             const std::function<void(std::int64_t step)>& advance_to,
                             const std::function<bool(std::int64_t step)>& on_report);

/// The step of a run of `run_steps` when one of `total_steps` has reached `step`.
std::int64_t proportional_step(std::int64_t run_steps, std::int64_t step, std::int64_t total_steps);

}  // namespace tarn
