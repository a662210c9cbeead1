#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tarn/engine.hpp"

/// @file
/// An engine made of engines, for example on several devices of a process.

namespace tarn {

/// Makes the engine of a part from its share of the start state.
using PartMaker = std::function<std::unique_ptr<Engine>(const State& share)>;

/// Makes an engine whose parts share the replicas and advance them at the same time, each on a
/// thread of its own. The results do not depend on the number of parts if these have the same
/// arithmetic. Parts that would have no replicas are not made.
/// @param makers called on the threads of the parts
/// @param threads that put frames together; 0: all processors of the process
/// @throws what the makers throw; std::invalid_argument without makers
std::unique_ptr<Engine> make_split_engine(const System& system, const State& start,
                                          const std::vector<PartMaker>& makers, int threads);

}  // namespace tarn
