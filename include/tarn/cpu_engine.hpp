#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/potential.hpp"

namespace tarn {

/// Makes the CPU engine.
/// @param threads number of threads, 0 for all
/// @param instruction_set "portable", "avx2", "avx512", "avx512-amd", or empty for the fastest one
/// on this machine
/// @param potential computes energies and forces in place of those of the water model; null: the
///        model. It is called on the thread that advances or makes the engine
/// @throws InputError if the instruction set is not supported here, and as make_engine()
std::unique_ptr<Engine> make_cpu_engine(const System& system, const State& start,
                                        const PairCountRequest& counts, int threads = 0,
                                        const std::string& instruction_set = "",
                                        std::shared_ptr<Potential> potential = {});

/// Instruction sets of this build that run on this machine, widest first.
std::vector<std::string> cpu_instruction_sets();

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
