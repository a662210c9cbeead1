#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/radial.hpp"
#include "steps/measure.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// The places of replicas in a batch, sorted by group and lane; see physics/moments.hpp.
class ReplicaGroups {
 public:
  explicit ReplicaGroups(int groups = 1) : groups_(groups) {}

  int groups() const { return groups_; }
  /// Sorts the replicas of a batch, unless they are those of the last call.
  void sort(std::span<const std::int64_t> replica_ids);
  /// Places of the replicas of a lane, in the order of the batch.
  std::span<const int> lane(int group, int lane) const {
    const auto at = static_cast<std::size_t>(group * kMomentLanes + lane);
    const auto begin = static_cast<std::size_t>(begins_[at]);
    return std::span(places_).subspan(begin, static_cast<std::size_t>(begins_[at + 1]) - begin);
  }
  /// Number of replicas of a group.
  int replicas(int group) const {
    const auto at = static_cast<std::size_t>(group * kMomentLanes);
    return begins_[at + kMomentLanes] - begins_[at];
  }
  /// All places, and where those of each lane begin: [group][lane], and the end.
  const std::vector<int>& places() const { return places_; }
  const std::vector<int>& begins() const { return begins_; }

 private:
  int groups_;
  std::vector<std::int64_t> ids_;
  std::vector<int> places_, begins_;
};

/// Makes `moments` those of rows of numbers.
/// @param rows [replica][number], of the replicas that `groups` sorted
/// @param unknown_is_left_out whether nan values are left out of the sums
/// @param threads 0: all available
void make_moments(std::span<const double> rows, int numbers, const ReplicaGroups& groups,
                  bool unknown_is_left_out, int threads, GroupMoments& moments);

/// The fields of rows from which kGroupFields of `fields` are made, and those of kRowFields.
unsigned row_fields_for(unsigned fields);
/// Fills the moments that `fields` names from the rows of the frame, and empties the others.
/// @param flexible whether the water model is
void fill_moments(unsigned fields, bool flexible, ReplicaGroups& groups, int threads, Frame& frame);
/// Empties the rows that `fields` does not name.
void drop_rows(unsigned fields, Frame& frame);

/// Adds the atoms of a configuration to a group.
/// @param positions_A [molecule][9], atoms O H H
void add_radial(std::span<const double> positions_A, const ClusterMasses& masses,
                const RadialRequest& request, int group, RadialCounts& counts);
/// Adds the counts of other replicas; nothing if there are none.
void add_radial(const RadialCounts& from, RadialCounts& to);
/// Gives the counts their sizes and sets them to 0.
void clear_radial(const RadialRequest& request, RadialCounts& counts);

}  // namespace tarn
