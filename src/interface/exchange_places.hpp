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

[[noreturn]] inline void refuse_exchange(std::int64_t replica_id) {
  throw InputError("replica " + std::to_string(replica_id) +
                   " cannot be exchanged: it does not exist or was stopped");
}

/// @throws InputError if one of the pairs has a replica that was stopped
inline void refuse_stopped(std::span<const StateExchange> pairs, std::span<const BlowUp> stopped) {
  for (const BlowUp& blow_up : stopped) {
    for (const StateExchange& pair : pairs) {
      if (blow_up.replica == pair.first || blow_up.replica == pair.second) {
        refuse_exchange(blow_up.replica);
      }
    }
  }
}

/// Location of a running replica. @throws InputError if it is not running
template <class Place>
Place place_of(std::int64_t replica_id, ReplicaPlaces<Place>& live) {
  const Place* found = live.find(replica_id);
  if (found != nullptr) return *found;
  refuse_exchange(replica_id);
}

/// @throws InputError if numbers of Engine::take_coordinates() are from another kind of engine
inline void check_received(std::size_t expected, std::size_t received) {
  if (expected == received) return;
  throw InputError("engines of different kinds cannot exchange states: " +
                   std::to_string(received) + " numbers instead of " + std::to_string(expected));
}

/// Locations of the replicas of each pair.
/// @param live locations of the running replicas
/// @throws InputError for a replica that is not running or is named twice
template <class Place>
std::vector<std::pair<Place, Place>> exchange_places(std::span<const StateExchange> pairs,
                                                     ReplicaPlaces<Place> live) {
  std::vector<std::int64_t> named;
  std::vector<std::pair<Place, Place>> places;
  for (const StateExchange& pair : pairs) {
    const Place first = place_of(pair.first, live);
    places.emplace_back(first, place_of(pair.second, live));
    named.insert(named.end(), {pair.first, pair.second});
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
