#pragma once

#include <cstdint>
#include <functional>

namespace tarn {

/// Several runs side by side, in turns, so that whatever else the machine does falls on all of them
/// alike. A turn is at most a fortieth of the whole, and takes about a quarter of a second.
/// @param advance_to takes all of them to a step
/// @param between called about twice a second, between turns; false ends it
/// @return the step that all of them have reached
std::int64_t run_in_turns(std::int64_t total_steps,
                          const std::function<void(std::int64_t step)>& advance_to,
                          const std::function<bool(std::int64_t step)>& between);

/// How far a run of `own_steps` has come when one of `total_steps` has made `steps`.
std::int64_t own_part(std::int64_t own_steps, std::int64_t steps, std::int64_t total_steps);

}  // namespace tarn
