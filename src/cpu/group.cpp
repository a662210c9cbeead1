#include "group.hpp"

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "tarn/core/number.hpp"
#include "tarn/steps/step_parameters.hpp"

namespace tarn::cpu {
namespace {

/// Lanes without a replica repeat the first one; their results are ignored.
void fill(const GroupLayout& layout, const State& start, const ThermostatSpec& thermostat,
          Group& group) {
  const int n = layout.molecules();
  group.stopped.assign(static_cast<std::size_t>(group.replicas), 0);
  group.running.assign(static_cast<std::size_t>(group.slots), 0.0);
  std::fill_n(group.running.begin(), group.replicas, 1.0);
  group.x.assign(layout.pack_doubles(group), 0.0);
  group.v.assign(layout.pack_doubles(group), 0.0);
  group.a.assign(layout.pack_doubles(group), 0.0);
  if (!start.heat_kcal_per_mol.empty()) group.heat.assign(layout.pack_doubles(group) / 9, 0.0);
  group.ids.resize(static_cast<std::size_t>(group.slots));
  group.kick_scale.assign(
      static_cast<std::size_t>(group.lanes_are_replicas ? group.slots : padded_molecules(n)), 0.0);
  const auto copy = [&](int slot, int source, int molecule, int from_molecule, bool moving) {
    const std::size_t from =
        (static_cast<std::size_t>(group.first_replica + source) * n + from_molecule) * 9;
    for (int c = 0; c < 9; ++c) {
      const std::size_t to = layout.index(group, slot, molecule, c);
      group.x[to] = start.positions_A[from + c];
      group.v[to] = moving ? start.velocities_A_per_akma[from + c] : 0.0;
    }
  };
  for (int slot = 0; slot < group.slots; ++slot) {
    const int source = slot < group.replicas ? slot : 0;
    const std::int64_t id = start.replica_ids[group.first_replica + source];
    const double scale = kick_scale_of(thermostat, id);
    group.ids[static_cast<std::size_t>(slot)] = static_cast<std::uint64_t>(id);
    if (group.lanes_are_replicas) {
      group.kick_scale[static_cast<std::size_t>(slot)] = scale;
    } else {
      // Padding molecules have no noise and stay at rest.
      std::fill_n(group.kick_scale.begin(), n, scale);
    }
    for (int m = 0; m < n; ++m) copy(slot, source, m, m, true);
    if (!group.tallies_heat()) continue;
    for (int m = 0; m < n; ++m) {
      group.heat[layout.heat_index(group, slot, m)] =
          start.heat_kcal_per_mol[static_cast<std::size_t>((group.first_replica + source) * n + m)];
    }
  }
  if (!group.lanes_are_replicas) {
    for (int m = n; m < padded_molecules(n); ++m) copy(0, 0, m, 0, false);
  }
  if (thermostat.kind == Thermostat::baoab) group.v_thermal.assign(group.v.size(), kNoNumber);
}

}  // namespace

GroupLayout::GroupLayout(const System& system, int lanes)
    : n_(system.molecules),
      lanes_(lanes),
      small_(is_small_cluster(system.molecules)),
      single_(system.precision == Precision::single),
      wide_(single_ || pair_force_precision(system) == Precision::mixed),
      mass_o_Da_(system.model.mass_o_Da),
      mass_h_Da_(system.model.mass_h_Da) {}

GroupLayout GroupLayout::of_copies(const System& system, int lanes) {
  GroupLayout layout(system, lanes);
  layout.small_ = true;
  return layout;
}

PackRange GroupLayout::part_of(const TeamMember& member, int packs, int lanes) const {
  if (member.size() == 1) return {0, packs};
  const auto begin = [&](int rank) {
    return std::min(packs, wide_packs() * rank / member.size() * (wide_slots() / lanes));
  };
  return {begin(member.rank()), begin(member.rank() + 1)};
}

PackLanes GroupLayout::lanes_of(Group& group, PackRange packs) const {
  return {packs.first,
          packs.last,
          group.lanes_are_replicas,
          n_,
          group.ids.data(),
          group.kick_scale.data(),
          group.running.data(),
          group.heat.data(),
          mass_o_Da_,
          mass_h_Da_};
}

MoleculePacks GroupLayout::packs_of(Group& group, WorkSpace& space,
                                    const TeamMember& member) const {
  return {lanes_of(group, part_of(member, packs_in(group, lanes_), lanes_)),
          group.x.data(),
          group.v.data(),
          group.a.data(),
          space.f.data(),
          group.v_thermal.data()};
}

SinglePacks GroupLayout::single_packs_of(Group& group, WorkSpace& space,
                                         const TeamMember& member) const {
  SingleGroup& s = space.single;
  const int lanes = wide_slots();
  return {lanes_of(group, part_of(member, packs_in(group, lanes), lanes)),
          s.x.data(),
          s.v.data(),
          s.a.data(),
          s.f.data(),
          group.v_thermal.empty() ? nullptr : s.v_thermal.data()};
}

int GroupLayout::most_molecules() const {
  return std::max(padded_molecules(n_), small_ ? wide_slots() * n_ : 0);
}

std::size_t GroupLayout::small_work_size(const Group& group) const {
  return static_cast<std::size_t>(
      group.lanes_are_replicas ? (n_ + n_ / 2) * wide_slots() * kSiteForceComponents
                               : (kSiteComponents + kSiteForceComponents) * narrow_row_length());
}

void GroupLayout::prepare_to_report(WorkSpace& s) const {
  s.q.resize(static_cast<std::size_t>(9 * most_molecules()));
}

void GroupLayout::prepare_to_step(const Group& group, WorkSpace& s) const {
  prepare_to_report(s);
  const std::size_t molecules = static_cast<std::size_t>(most_molecules());
  s.f.resize(molecules * 9);
  s.totals.resize(molecules * 3);
  s.sites.resize(molecules * kSiteComponents);
  if (!small_) {
    s.block_f.resize(block_force_size(padded_molecules(n_), blocks()) / (wide_ ? 2 : 1));
  } else if (!single_) {
    // The doubles also store floats.
    s.work.resize(small_work_size(group) / (wide_ ? 2 : 1) + 1);
    s.next_v.resize(group.v.size());
    if (group.lanes_are_replicas) {
      s.next_x.resize(group.x.size());
    } else {
      s.next_x = group.x;  // padding is read too, and no pass writes it
    }
  }
  if (!single_) return;
  SingleGroup& f = s.single;
  const std::size_t size = static_cast<std::size_t>(packs_in(group, wide_slots()) * wide_slots());
  f.x.resize(size * kFixedComponents);
  f.kept_x.resize(f.x.size());
  f.v.resize(size * 9);
  f.kept_v.resize(f.v.size());
  f.a.resize(size * 9);
  f.f.resize(size * 9);
  f.totals.resize(size * 3);
  f.sites.resize(size * kSiteComponents);
  if (small_) {
    f.work.resize(small_work_size(group));
    f.next_x.resize(f.x.size());
    f.next_v.resize(f.v.size());
  }
  if (!group.v_thermal.empty()) f.v_thermal.resize(size * 9);
}

std::vector<Group> make_groups(const GroupLayout& layout, const State& start,
                               const ThermostatSpec& thermostat, int threads) {
  std::vector<Group> groups;
  const int replicas = start.replicas();
  const auto faster = [&](int some, int members) {
    return molecule_lanes_are_faster(layout.molecules(), some, layout.wide_slots(), members);
  };
  const bool all_alone = !layout.is_small() || faster(replicas, threads);
  const int slots = layout.is_small() ? layout.wide_slots() : 1;
  for (int first = 0; first < replicas; first += slots) {
    const int here = std::min(slots, replicas - first);
    const bool wide = !all_alone && !faster(here, 1);
    for (int r = 0; r < (wide ? 1 : here); ++r) {
      Group group;
      group.lanes_are_replicas = wide;
      group.slots = wide ? slots : 1;
      group.first_replica = first + r;
      group.replicas = wide ? here : 1;
      groups.push_back(std::move(group));
    }
  }
  for_each_index(static_cast<std::int64_t>(groups.size()), threads, [&](std::int64_t g) {
    fill(layout, start, thermostat, groups[static_cast<std::size_t>(g)]);
  });
  return groups;
}

}  // namespace tarn::cpu
