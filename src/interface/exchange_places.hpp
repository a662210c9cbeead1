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

/// Where replicas are, by their ids.
template <class Place>
class ReplicaPlaces {
 public:
  void reserve(std::size_t replicas) { places_.reserve(replicas); }
  /// Once a replica; in rising order of the ids it costs least.
  void add(std::int64_t id, Place place) {
    is_sorted_ = is_sorted_ && (places_.empty() || places_.back().first < id);
    places_.emplace_back(id, place);
  }
  /// nullptr for a replica that was not added.
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

/// Where the replicas of each pair are.
/// @param live places of the replicas that run
/// @throws InputError for a replica that is not among them, and for one that is named twice
template <class Place>
std::vector<std::pair<Place, Place>> exchange_places(std::span<const StateExchange> pairs,
                                                     ReplicaPlaces<Place> live) {
  std::vector<std::int64_t> named;
  const auto place_of = [&](std::int64_t id) {
    const Place* found = live.find(id);
    if (found == nullptr) {
      throw InputError("replica " + std::to_string(id) +
                       " cannot be exchanged: there is none, or it was stopped");
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
                     " cannot be exchanged twice at once: two calls can do it");
  }
  return places;
}

}  // namespace tarn
