#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/aligned.hpp"
#include "group.hpp"
#include "kernel_table.hpp"
#include "physics/cluster_shape.hpp"
#include "potential_forces.hpp"
#include "steps/measure.hpp"
#include "tarn/engine.hpp"
#include "tarn/force_field.hpp"
#include "thread_team.hpp"

namespace tarn::cpu {

/// Rows of replicas, or of the centroids of ring polymers, measured in blocks of as many as a pack
/// has lanes: replicas b * lanes onwards of the state. A lane is always a replica, also if its
/// group has molecules in its lanes; a row then has the same bits in any batch.
class BlockMeasure {
 public:
  BlockMeasure(const System& system, const GroupLayout& layout, const KernelTable& kernels,
               const PotentialForces* potential, std::int64_t replicas);

  std::int64_t blocks() const { return (replicas_ + lanes_ - 1) / lanes_; }
  /// Work space of one thread.
  struct Space {
    AlignedVector<double> x, v, a, v_thermal;  ///< where packs must be gathered
    AlignedVector<double> q, sums, inertia, potential, row;
    std::vector<double> one_x, one_v;       ///< of one replica
    std::optional<ForceField> force_field;  ///< of large clusters
  };
  Space make_space() const;

  /// Fills the rows of the replicas of a block.
  /// @param groups all of them, in order; @param place [replica] its place in the frame, or -1
  /// @param radial counts of one thread to add to; null: not requested
  void fill(unsigned fields, std::int64_t block, const std::vector<Group>& groups,
            const std::vector<std::int64_t>& place, const MeasureSettings& settings, Space& space,
            RadialCounts* radial, Frame& frame) const;

  // Lindemann sums, [block][pair][lane].
  void begin_sums(const LindemannSums& from, const std::vector<std::int64_t>& replica_ids);
  bool has_sums() const { return !means_.empty(); }
  /// Adds the distances of a block; after all blocks, count_sample().
  void add_distances(std::int64_t block, const std::vector<Group>& groups, Space& space);
  void count_sample() { ++samples_; }
  /// @param place as in fill()
  void put_sums(const std::vector<std::int64_t>& place, Frame& frame) const;

 private:
  /// Packs of a block: those of its group, or gathered.
  MeasuredPacks packs_of(std::int64_t block, const std::vector<Group>& groups, Space& space) const;
  /// Copies the 9 N numbers of a lane.
  void replica_of_lane(const double* packed, int lane, std::vector<double>& out) const;
  template <class ForEachLive>
  void fill_energies(unsigned fields, std::int64_t block, const MeasuredPacks& packs,
                     const std::vector<Group>& groups, const ForEachLive& for_each_live,
                     Space& space, Frame& frame) const;
  /// At the reported positions, Space::q. @param replica of the state, in this lane
  BiasMeasure bias_of(int replica, int lane, const std::vector<Group>& groups,
                      const Space& space) const;
  /// Mean over the beads [e A]; NaN if the potential has none.
  std::array<double, 3> dipole_of_potential(int replica) const;
  /// Heat of a replica of the state, summed over its molecules.
  double heat_of(int replica, const std::vector<Group>& groups) const;
  bool has_isotopes() const { return !masses_.isotopes.empty(); }
  std::size_t pairs() const { return static_cast<std::size_t>(molecule_pairs(n_)); }
  std::size_t sums_at(std::int64_t block) const {
    return static_cast<std::size_t>(block) * pairs() * static_cast<std::size_t>(lanes_);
  }

  const GroupLayout& layout_;
  const KernelTable& kernels_;
  const PotentialForces* potential_;  ///< null: the model's energies
  WaterModel model_;
  MeasureNumbers numbers_;
  ClusterMasses masses_;
  PairParameters<double> pair_;
  int n_, lanes_;
  std::int64_t replicas_;
  std::int64_t samples_ = 0;
  AlignedVector<double> means_, squares_;
};

/// Histograms of pair distances that one thread has filled. Integers, so that their sum over the
/// threads is independent of which thread counted what.
struct PairHistograms {
  std::vector<std::uint64_t> counts;  ///< [group][class][bins + 1], the last bin beyond r_max
  std::vector<std::int64_t> samples;  ///< [group]

  /// Allocates the memory, unless it exists or nothing is to be counted.
  void prepare(const PairCountRequest& request);
};

/// Whether distances are counted at a step.
inline bool counts_are_due(const PairCountRequest& request, std::int64_t step) {
  return request.enabled && step >= request.first_step && step % request.every == 0;
}

/// Adds the distances of the running replicas of a group at the reported positions q, of all beads
/// of ring polymers. All members of the team call; each adds to its own histograms.
void count_group(const PairCountRequest& request, const KernelTable& kernels,
                 const GroupLayout& layout, const Group& group, const AlignedVector<double>& q,
                 TeamMember& member, PairHistograms& histograms);

/// Adds the histograms of one thread to the counts of a Frame, which must have their sizes.
void add_counts(const PairCountRequest& request, const PairHistograms& histograms, Frame& frame);

}  // namespace tarn::cpu
