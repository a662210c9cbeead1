#pragma once

#include "checker.hpp"
#include "rule_helpers.hpp"
#include "water_keys.hpp"

/// @file
/// Keys that several observers have.

namespace tarn::decks {

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
