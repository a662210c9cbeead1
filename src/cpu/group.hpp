#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "kernel_table.hpp"
#include "layout.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"
#include "thread_team.hpp"

/// @file
/// The memory of the CPU engine: groups of replicas and their layout.

namespace tarn::cpu {

/// A group of replicas that is stepped independently of all others: one replica per lane of a pack,
/// or a single replica with one molecule per lane. A ring polymer has one lane per normal mode: its
/// modes are consecutive slots.
struct Group {
  bool lanes_are_replicas = false;
  int slots = 1;               ///< replica lanes, or one
  int first_replica = 0;       ///< index into the state
  int replicas = 0;            ///< the slots beyond repeat the first; those of rings are 0
  AlignedVector<double> x, v;  ///< packs
  AlignedVector<double> a;     ///< packs: accelerations, or the forces on modes
  AlignedVector<double> kept_x, kept_v;  ///< the last kept state
  /// Packs; velocities right after the noise of BAOAB, NaN before the first noise.
  AlignedVector<double> v_thermal;
  AlignedVector<double> heat,
      kept_heat;                       ///< packs with one number per molecule; empty if not tallied
  AlignedVector<std::uint64_t> ids;    ///< [slot]
  AlignedVector<double> kick_scale;    ///< [slot] or [molecule]
  std::vector<char> stopped;           ///< [replica of the group]
  int running_replicas = 0;            ///< those that are not stopped
  AlignedVector<double> running;       ///< [slot], see PackLanes
  AlignedVector<double> bias_centres;  ///< [bias][slot]; of ring polymers [bias][replica]
  /// Of ring polymers: [member][slot], and by slot.
  AlignedVector<double> ring_constants, springs, bad;
  AlignedVector<double> isotope_ou;  ///< of ring polymers: see RingPacks::ou
  AlignedVector<std::uint64_t> first_numbers;

  void keep() {
    kept_x = x;
    kept_v = v;
    kept_heat = heat;
  }
  bool tallies_heat() const { return !heat.empty(); }
  bool is_stopped(int r) const { return stopped[r]; }
  /// The index into the state of replica r of the group.
  std::size_t replica_of_state(int r) const { return static_cast<std::size_t>(first_replica + r); }
  /// Calls op(r, replica of the state) for each replica that is not stopped.
  template <class Op>
  void for_each_running(const Op& op) const {
    for (int r = 0; r < replicas; ++r) {
      if (!is_stopped(r)) op(r, replica_of_state(r));
    }
  }
};

/// The state of a group in single precision during its steps, and its forces. Packs have twice as
/// many lanes as in double.
struct SingleGroup {
  AlignedVector<std::uint32_t> x, kept_x, next_x;
  AlignedVector<float> v, a, kept_v, next_v, v_thermal, f, totals, sites, work;
};

/// Work space for the steps of a group.
struct WorkSpace {
  std::size_t thread = 0;
  SingleGroup single;
  AlignedVector<double> f, work, q, totals;      ///< work: for small clusters; q: or beads
  AlignedVector<double> next_x, next_v;          ///< packs; see PassesOfKind::fused
  AlignedVector<double> sites, block_f;          ///< doubles that also store floats
  AlignedVector<double> active, change2, size2;  ///< see NewmarkCorrection
};

struct PackRange {
  int first, last;  ///< one past the end
};

/// Sizes and indices of the packs. They depend on the system and the lanes of the processor only.
class GroupLayout {
 public:
  /// @param lanes doubles in a pack
  GroupLayout(const System& system, int lanes);

  int molecules() const { return n_; }
  int lanes() const { return lanes_; }
  /// Copies of a replica: the modes (or beads) of a ring polymer, or one.
  int copies() const { return copies_; }
  bool has_rings() const { return copies_ > 1; }
  int first_slot(int replica) const { return replica * copies_; }
  /// True for ring polymers of any size, whose copies are small clusters to the loops.
  bool is_small() const { return small_; }
  bool is_single() const { return single_; }
  /// True in mixed and in single precision.
  bool pairs_are_floats() const { return wide_; }
  /// Lanes of the pair type; also the replicas per group, if lanes are replicas.
  int wide_slots() const { return lanes_ * (wide_ ? 2 : 1); }
  /// Packs of the pair type per cluster.
  int wide_packs() const { return padded_molecules(n_) / wide_slots(); }
  /// See NarrowPairs.
  int narrow_row_length() const { return cpu::narrow_row_length(n_, wide_slots()); }
  /// Blocks of molecules, whose pairs are divided among threads.
  int blocks() const { return small_ ? 1 : pair_blocks(n_, wide_slots()); }
  /// Packs of `lanes` lanes that contain molecules.
  int packs_in(const Group& group, int lanes) const {
    return group.lanes_are_replicas ? group.slots / lanes * n_ : (n_ + lanes - 1) / lanes;
  }
  /// Numbers in the packs of a group.
  std::size_t pack_doubles(const Group& group) const {
    return static_cast<std::size_t>(
        9 * (group.lanes_are_replicas ? group.slots * n_ : padded_molecules(n_)));
  }
  /// Index of coordinate c of molecule m in a slot of a group.
  std::size_t index(const Group& group, int slot, int m, int c) const {
    if (group.lanes_are_replicas) {
      return pack_index(lanes_, static_cast<std::size_t>(slot / lanes_ * n_ + m), c, slot % lanes_);
    }
    return pack_index(lanes_, static_cast<std::size_t>(m / lanes_), c, m % lanes_);
  }
  /// Index of the heat of molecule m in a slot of a group.
  std::size_t heat_index(const Group& group, int slot, int m) const {
    if (group.lanes_are_replicas) {
      return static_cast<std::size_t>((slot / lanes_ * n_ + m) * lanes_ + slot % lanes_);
    }
    return static_cast<std::size_t>(m);
  }
  /// Copies the 9 N numbers of a slot of a group.
  void gather_slot(const Group& group, const AlignedVector<double>& packs, int slot,
                   double* out) const {
    for (int m = 0; m < n_; ++m) {
      const double* const from = packs.data() + index(group, slot, m, 0);
      for (int c = 0; c < 9; ++c) out[m * 9 + c] = from[c * lanes_];
    }
  }
  /// Copies the numbers of replica r of a group, [copy][molecule][9].
  void gather(const Group& group, const AlignedVector<double>& packs, int r, double* out) const {
    for (int k = 0; k < copies_; ++k)
      gather_slot(group, packs, first_slot(r) + k, out + 9 * n_ * k);
  }
  /// Copies the heat of the molecules of replica r of a group, [copy][molecule].
  void gather_heat(const Group& group, const AlignedVector<double>& packs, int r,
                   double* out) const {
    for (int k = first_slot(r); k < first_slot(r + 1); ++k) {
      for (int m = 0; m < n_; ++m) *out++ = packs[heat_index(group, k, m)];
    }
  }
  /// The centroid of a ring polymer is its first mode times this, 1/sqrt(P); a replica without
  /// copies is its own centroid.
  double centroid_scale() const { return centroid_scale_; }
  /// Copies the 9 N numbers of the centroid of replica r of a group.
  void gather_centroid(const Group& group, const AlignedVector<double>& packs, int r,
                       double* out) const {
    gather_slot(group, packs, first_slot(r), out);
    for (int c = 0; c < 9 * n_; ++c) out[c] *= centroid_scale_;
  }

  /// Of all `packs` those that a member takes. Whatever the lanes of the packs, they are the same
  /// molecules: whole packs of the pair type.
  PackRange part_of(const TeamMember& member, int packs, int lanes) const;
  /// The same for all packs of the pair type, including padding.
  PackRange wide_part_of(const TeamMember& member) const {
    return part_of(member, wide_packs(), wide_slots());
  }
  /// The packs of a group that a team member computes.
  MoleculePacks packs_of(Group& group, WorkSpace& space, const TeamMember& member = {}) const;
  /// The same in single precision.
  SinglePacks single_packs_of(Group& group, WorkSpace& space, const TeamMember& member) const;
  /// The modes of a group of ring polymers, and their constants.
  RingPacks ring_packs_of(Group& group) const;
  RingConstants ring_constants_of(const Group& group) const;

  void prepare_to_report(const Group& group, WorkSpace& space) const {
    space.q.resize(pack_doubles(group));
  }
  void prepare_to_step(const Group& group, WorkSpace& space) const;

 private:
  /// In numbers of the pair type.
  std::size_t small_work_size(const Group& group) const;
  PackLanes lanes_of(Group& group, PackRange packs) const;

  int n_, lanes_, copies_;
  double centroid_scale_;
  bool small_, single_, wide_;
  double mass_o_Da_, mass_h_Da_, cluster_Da_;
  /// Of isotopes: see PackLanes::isotopes, for lanes that are replicas and for those that are
  /// molecules.
  AlignedVector<double> isotopes_, packed_isotopes_;
};

/// The groups of all replicas of a state.
std::vector<Group> make_groups(const System& system, const GroupLayout& layout, const State& start,
                               int threads);

}  // namespace tarn::cpu
