#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"

/// @file
/// The MPI ranks of this program.

namespace tarn::cli {

constexpr const char* kRanksHelp =
    "auto, or off: under mpirun or srun, run each process alone; default: TARN_RANKS, or auto";

/// Joins the other processes that mpirun or srun started, if the command uses ranks.
/// @param words of the command line
/// @return null if this process runs alone
/// @throws InputError if the processes cannot share a run, or were given different ones
std::unique_ptr<Ranks> join_ranks(const std::vector<std::string>& words);
/// Why the processes cannot work together; empty unless `tarn doctor` asks.
const std::string& ranks_problem();

/// Set once by main(). @param ranks null: this process runs alone
void set_ranks(Ranks* ranks);
Ranks* ranks();
/// Whether a signal should end the run: interrupted(), on any rank.
bool interrupted_on_any_rank();

/// Makes engines on all ranks; empty if this process runs alone.
EngineMaker engine_maker();

}  // namespace tarn::cli
