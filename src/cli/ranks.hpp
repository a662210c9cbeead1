#pragma once

#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"

/// @file
/// The MPI ranks of this program.

namespace tarn::cli {

/// Set once by main(). @param ranks null: this process runs alone
void set_ranks(Ranks* ranks);
Ranks* ranks();

/// Makes engines on all ranks; empty if this process runs alone.
EngineMaker engine_maker();

}  // namespace tarn::cli
