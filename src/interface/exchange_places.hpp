#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Locations of replicas, by id.
template <class Place>
class ReplicaPlaces {
 public:
  void reserve(std::size_t replicas) { places_.reserve(replicas); }
  /// Adds a replica once; fastest in ascending order of ids.
  void add(std::int64_t id, Place place) {
    is_sorted_ = is_sorted_ && (places_.empty() || places_.back().first < id);
    places_.emplace_back(id, place);
  }
  /// Returns nullptr for a replica that was not added.
  const Place* find(std::int64_t id) {
    if (!is_sorted_) std::ranges::sort(places_, {}, &Entry::first);
    is_sorted_ = true;
    const auto at = std::ranges::lower_bound(places_, id, {}, &Entry::first);
    return at != places_.end() && at->first == id ? &at->second : nullptr;
  }

 private:
  using Entry = std::pair<std::int64_t, Place>;
  std::vector<Entry> places_;
  bool is_sorted_ = true;
};

/// Locations of the replicas of each pair.
/// @param live locations of the running replicas
/// @throws InputError for a replica that is not running or is named twice
template <class Place>
std::vector<std::pair<Place, Place>> exchange_places(std::span<const StateExchange> pairs,
                                                     ReplicaPlaces<Place> live) {
  std::vector<std::int64_t> named;
  const auto place_of = [&](std::int64_t id) {
    const Place* found = live.find(id);
    if (found == nullptr) {
      throw InputError("replica " + std::to_string(id) +
                       " cannot be exchanged: it does not exist or was stopped");
    }
    named.push_back(id);
    return *found;
  };
  std::vector<std::pair<Place, Place>> places;
  for (const StateExchange& pair : pairs) {
    const Place first = place_of(pair.first);
    places.emplace_back(first, place_of(pair.second));
  }
  std::ranges::sort(named);
  const auto twice = std::ranges::adjacent_find(named);
  if (twice != named.end()) {
    throw InputError("replica " + std::to_string(*twice) +
                     " cannot be exchanged twice in one call; use two calls");
  }
  return places;
}

}  // namespace tarn
