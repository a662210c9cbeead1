#pragma once

#include <optional>
#include <string>

#include "tarn/core/message.hpp"
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

/// A warning that all ranks but the first are idle; none if this process runs alone.
/// @param what runs on one rank only: a plural, such as "mechanical systems"
std::optional<Message> warning_of_idle_ranks(const std::string& what);

}  // namespace tarn::cli
