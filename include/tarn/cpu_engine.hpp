#pragma once

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

}  // namespace tarn
