#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Where the replicas of each pair are.
/// @param live places of the replicas that run, by their ids
/// @throws InputError for a replica that is not among them, and for one that is named twice
template <class Place>
std::vector<std::pair<Place, Place>> exchange_places(
    std::span<const StateExchange> pairs, const std::unordered_map<std::int64_t, Place>& live) {
  std::unordered_set<std::int64_t> named;
  const auto place_of = [&](std::int64_t id) {
    const auto found = live.find(id);
    if (found == live.end()) {
      throw InputError("replica " + std::to_string(id) +
                       " cannot be exchanged: there is none, or it was stopped");
    }
    if (!named.insert(id).second) {
      throw InputError("replica " + std::to_string(id) +
                       " cannot be exchanged twice at once: two calls can do it");
    }
    return found->second;
  };
  std::vector<std::pair<Place, Place>> places;
  for (const StateExchange& pair : pairs) {
    const Place first = place_of(pair.first);
    places.emplace_back(first, place_of(pair.second));
  }
  return places;
}

}  // namespace tarn
