#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "interface/exchange_places.hpp"
#include "tarn/exchange.hpp"

namespace tarn::test {

/// Exchanges positions and velocities in a State, as Engine::exchange() does. Heat is not
/// exchanged.
/// @throws InputError if a replica does not exist or is named twice
inline void exchange_states(const System& system, State& state,
                            std::span<const StateExchange> pairs) {
  const std::size_t size = state.ring_coordinates();
  ReplicaPlaces<std::size_t> begins;
  begins.reserve(state.replica_ids.size());
  for (std::size_t r = 0; r < state.replica_ids.size(); ++r) {
    begins.add(state.replica_ids[r], r * size);
  }
  const auto places = exchange_places(pairs, std::move(begins));
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [first, second] = places[k];
    const auto part = [size](std::vector<double>& of, std::size_t begin) {
      return std::span(of).subspan(begin, size);
    };
    std::vector<double>&x = state.positions_A, &v = state.velocities_A_per_akma;
    std::ranges::swap_ranges(part(x, first), part(x, second));
    std::ranges::swap_ranges(part(v, first), part(v, second));
    for (double& u : part(v, first)) u *= pairs[k].to_first;
    for (double& u : part(v, second)) u *= pairs[k].to_second;
    if (state.beads == 1) continue;
    const auto rescale = [&](std::size_t begin, std::int64_t from, std::int64_t to) {
      const double factor = ring_mode_factor(system, from, to);
      for (double& q : part(x, begin).subspan(state.coordinates())) q *= factor;
    };
    rescale(first, pairs[k].second, pairs[k].first);
    rescale(second, pairs[k].first, pairs[k].second);
  }
}

}  // namespace tarn::test
