#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker.hpp"
#include "water_keys.hpp"

namespace tarn::decks {

/// A problem for each of the keys that the deck does not give: "[section] needs key".
void require_keys(Checker& checker, std::initializer_list<std::string_view> paths);

/// A problem if the deck gives none of the keys.
/// @param at the key at which the problem is reported
void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message);

/// The rule of a limit, checked if these keys have no problem.
/// @param key the key at which the problem is reported
Rule limit(std::string_view text,
           std::optional<std::string> (*problem)(const Deck&, std::int64_t molecules),
           std::string_view key, std::vector<std::string_view> relies_on);

/// True for a penalty scheme with omega = "infinite".
bool has_infinite_penalty(const Checker& checker);

inline constexpr std::string_view kAllOrFirst =
    "Replicas to write: all, or the first n (all if there are fewer).";
inline constexpr std::string_view kAllOrFirstAveraged =
    "Replicas to average over: all, or the first n (all if there are fewer).";

inline std::vector<Choice> every_replica() { return {{"all", ReplicaSelection::Kind::all}}; }
inline std::vector<Choice> all_or_mean() {
  return {{"all", ReplicaSelection::Kind::all}, {"mean", ReplicaSelection::Kind::mean}};
}

/// `replicas` of a table with means.
template <class S>
KeyOf<S> all_or_mean_key() {
  return replicas_key<S>(all_or_mean(),
                         "Replicas to write: all, their mean with its standard error, or the first "
                         "n (all if there are fewer).");
}

}  // namespace tarn::decks
