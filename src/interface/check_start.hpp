#pragma once

#include "tarn/engine.hpp"

namespace tarn {

/// What every engine is checked for before it is made.
/// @throws InputError when the state is not one of the system's, or has arrays of the wrong sizes
/// or replicas of one id; when a number of the system is out of its range; when pairs cannot be
/// counted as asked for; when single precision has not the scheme, or cannot hold the molecules
void check_start(const System& system, const State& start, const PairCountRequest& counts);

}  // namespace tarn
