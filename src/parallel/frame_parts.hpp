#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "interface/moments.hpp"
#include "tarn/engine.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// What the parts of an engine report, as the whole engine reports it.

namespace tarn::parallel {

/// Fields that are sums over the replicas of several parts, in an order of their own.
inline constexpr unsigned kMoments =
    kEnergyMoments | kShapeMoments | kGeometryMoments | kLindemannMoments;

/// The fields of parts from which join_frames() makes `fields`: moments are sums over replicas of
/// several parts and need the rows.
inline unsigned fields_of_parts(unsigned fields) {
  return (fields & ~kMoments) | row_fields_for(fields & kMoments);
}

/// Puts frames of parts together, in the order of the parts.
/// @param parts with fields_of_parts(fields)
/// @param groups of the moments
void join_frames(std::span<const Frame> parts, unsigned fields, bool flexible,
                 ReplicaGroups& groups, int threads, Frame& whole);

/// Blow-ups of all parts, in order of replica.
std::vector<BlowUp> joined(std::span<const std::vector<BlowUp>> parts);

/// The text of all parts if it is the same, with their number; otherwise all of them.
std::string joined_description(std::span<const std::string> parts);
/// The text of all parts if it is the same; otherwise the different ones.
std::string joined_arithmetic(std::span<const std::string> parts);

/// Sets the number of replicas of a part, the first and the last.
void put_replicas(std::span<const std::int64_t> ids, EnginePart& part);

/// Appends number k of the parts of equal size in a vector.
template <class T>
void append_part(const std::vector<T>& from, std::size_t k, std::size_t size, std::vector<T>& to) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(k * size);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
}

/// Where the state comes from that a replica receives from another part.
struct ExchangeSource {
  std::size_t part;
  std::size_t place;  ///< in PartExchanges::across of that part
};

/// Exchanges of one part.
struct PartExchanges {
  std::vector<StateExchange> within;        ///< between its own replicas
  std::vector<ReceivedCoordinates> across;  ///< its replicas that exchange with other parts
  std::vector<ExchangeSource> sources;      ///< of these

  std::vector<std::int64_t> leaving() const;
};

/// Divides exchanges among the parts.
/// @param parts_of_pairs parts of the first and the second replica of each pair
std::vector<PartExchanges> divide_exchanges(
    std::span<const StateExchange> pairs,
    std::span<const std::pair<std::size_t, std::size_t>> parts_of_pairs, std::size_t parts);

/// Where the shares of an engine's parts begin in its replicas, and the end. Shares are contiguous
/// and nearly equal. They consist of whole ladders of baths and of whole packs of replicas if that
/// leaves enough for every part; with fewer replicas than parts, the last ones are empty.
std::vector<std::size_t> share_begins(std::size_t replicas, std::size_t parts,
                                      const System& system);

/// A state of the same step without replicas.
State empty_like(const State& state);
void append_replica(const State& from, std::size_t r, State& to);
/// Replicas begin to end - 1.
State share_of(const State& state, std::size_t begin, std::size_t end);

/// The states of all parts as one.
State joined(std::span<const State> shares);

}  // namespace tarn::parallel
