#pragma once

#include <memory>

#include "kernel_table.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// The engine of ring polymers with two or more beads. A thread steps one ring polymer at a time; a
/// lane is a bead, or a mode.
std::unique_ptr<Engine> make_ring_engine(const System& system, const State& start,
                                         const PairCountRequest& counts, int threads,
                                         const KernelTable& kernels);

}  // namespace tarn::cpu
