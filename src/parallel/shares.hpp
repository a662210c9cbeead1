#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tarn/state.hpp"
#include "tarn/system.hpp"

namespace tarn::parallel {

/// Where the shares of an engine's parts begin in its replicas, and the end. Shares are contiguous
/// and nearly equal. They consist of whole ladders of baths and of whole packs of replicas if that
/// leaves enough for every part; with fewer replicas than parts, the last ones are empty.
std::vector<std::size_t> share_begins(std::size_t replicas, std::size_t parts,
                                      const System& system);

/// Replicas begin to end - 1.
State share_of(const State& state, std::size_t begin, std::size_t end);

/// The states of all parts as one.
State joined(std::span<const State> shares);

}  // namespace tarn::parallel
