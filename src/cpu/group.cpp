#include "group.hpp"

#include <cmath>
#include <map>

#include "core/parallel.hpp"
#include "physics/ring_polymer.hpp"
#include "ring_tables.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/core/number.hpp"

namespace tarn::cpu {
namespace {

/// Members of RingConstants.
constexpr std::size_t kRingConstants = 7;

/// Lanes without a replica repeat the first one; their results are ignored.
void fill(const System& system, const GroupLayout& layout, const State& start, Group& group) {
  const ThermostatSpec& thermostat = system.thermostat;
  const int n = layout.molecules(), used = layout.first_slot(group.replicas);
  group.stopped.assign(static_cast<std::size_t>(group.replicas), 0);
  group.running_replicas = group.replicas;
  group.running.assign(static_cast<std::size_t>(group.slots), 0.0);
  std::fill_n(group.running.begin(), used, 1.0);
  group.x.assign(layout.pack_doubles(group), 0.0);
  group.v.assign(layout.pack_doubles(group), 0.0);
  group.a.assign(layout.pack_doubles(group), 0.0);
  if (!start.heat_kcal_per_mol.empty()) group.heat.assign(layout.pack_doubles(group) / 9, 0.0);
  group.ids.assign(static_cast<std::size_t>(group.slots), 0);
  group.kick_scale.assign(
      static_cast<std::size_t>(group.lanes_are_replicas ? group.slots : padded_molecules(n)), 0.0);
  // Copies follow one another in the state too.
  const auto molecule_of_state = [&](int source, int molecule) {
    return static_cast<std::size_t>(layout.first_slot(group.first_replica) + source) * n + molecule;
  };
  const auto copy = [&](int slot, int source, int molecule, int from_molecule, bool moving) {
    const std::size_t from = 9 * molecule_of_state(source, from_molecule);
    for (int c = 0; c < 9; ++c) {
      const std::size_t to = layout.index(group, slot, molecule, c);
      group.x[to] = start.positions_A[from + c];
      group.v[to] = moving ? start.velocities_A_per_akma[from + c] : 0.0;
    }
  };
  for (int slot = 0; slot < (layout.has_rings() ? used : group.slots); ++slot) {
    const int source = slot < used ? slot : 0;
    const std::int64_t id = start.replica_ids[group.first_replica + source / layout.copies()];
    const double scale = kick_scale_of(thermostat, id);
    group.ids[slot] = static_cast<std::uint64_t>(id);
    if (group.lanes_are_replicas) {
      group.kick_scale[slot] = scale;
    } else {
      // Padding molecules have no noise and stay at rest.
      std::fill_n(group.kick_scale.begin(), n, scale);
    }
    for (int m = 0; m < n; ++m) copy(slot, source, m, m, true);
    if (!group.tallies_heat()) continue;
    for (int m = 0; m < n; ++m) {
      group.heat[layout.heat_index(group, slot, m)] =
          start.heat_kcal_per_mol[molecule_of_state(source, m)];
    }
  }
  if (!group.lanes_are_replicas) {
    for (int m = n; m < padded_molecules(n); ++m) copy(0, 0, m, 0, false);
  }
  const int centres = layout.has_rings() ? group.replicas : group.slots;
  for (const BiasSpec& bias : system.biases) {
    for (int slot = 0; slot < centres; ++slot) {
      const int replica = slot < group.replicas ? slot : 0;
      group.bias_centres.push_back(bias.centre(start.replica_ids[group.replica_of_state(replica)]));
    }
  }
  if (thermostat.kind == Thermostat::baoab) group.v_thermal.assign(group.v.size(), kNoNumber);
}

/// Constants of all modes, by temperature.
using ModesByTemperature = std::map<double, std::vector<RingMode>>;
ModesByTemperature modes_by_temperature(const System& system, const State& start) {
  ModesByTemperature all;
  for (const std::int64_t id : start.replica_ids) {
    const double temperature_K = replica_temperature_K(system, id);
    if (!all.contains(temperature_K)) all[temperature_K] = ring_modes(system, temperature_K);
  }
  return all;
}

/// Sets the constants of the modes of ring polymers, by the temperature of each replica.
void fill_modes(const System& system, const GroupLayout& layout, const ModesByTemperature& modes,
                Group& group) {
  const auto slots = static_cast<std::size_t>(group.slots);
  const auto used = static_cast<std::size_t>(layout.first_slot(group.replicas));
  group.ring_constants.assign(kRingConstants * slots, 0.0);
  for (AlignedVector<double>* numbers : {&group.springs, &group.bad}) numbers->assign(slots, 0.0);
  if (system.has_isotopes()) group.isotope_ou.assign(6 * slots * system.atom_masses_Da.size(), 0.0);
  group.first_numbers.assign(slots, 0);
  for (std::size_t slot = 0; slot < used; ++slot) {
    const int mode = static_cast<int>(slot) % layout.copies();
    const auto id = static_cast<std::int64_t>(group.ids[slot]);
    const RingMode& m = modes.at(replica_temperature_K(system, id))[mode];
    const double numbers[kRingConstants] = {m.cosine,     m.sine_over_omega, m.omega_sine,
                                            m.ou.decay_o, m.ou.decay_h,      m.ou.kick_o,
                                            m.ou.kick_h};
    for (std::size_t i = 0; i < kRingConstants; ++i) {
      group.ring_constants[i * slots + slot] = numbers[i];
    }
    group.springs[slot] = m.spring;
    for (std::size_t k = 0; k < m.isotope_ou.size(); ++k) {
      const AtomOuParameters<double>& ou = m.isotope_ou[k];
      const double of_molecule[6] = {ou.decay_o, ou.decay_h1, ou.decay_h2,
                                     ou.kick_o,  ou.kick_h1,  ou.kick_h2};
      const std::size_t lanes = static_cast<std::size_t>(layout.lanes());
      const std::size_t pack = slot / lanes * m.isotope_ou.size() + k;
      for (std::size_t i = 0; i < 6; ++i) {
        group.isotope_ou[(6 * pack + i) * lanes + slot % lanes] = of_molecule[i];
      }
    }
    group.first_numbers[slot] =
        static_cast<std::uint64_t>(mode) * static_cast<std::uint64_t>(layout.molecules());
  }
}

/// The groups of ring polymers, without their numbers: as many for each thread, if their beads fill
/// the lanes.
std::vector<Group> groups_of_rings(const GroupLayout& layout, int rings, int threads) {
  std::vector<Group> groups;
  const int wide = layout.wide_slots(), each = std::clamp((rings + threads - 1) / threads, 1,
                                                          rings_in_group(layout.copies(), wide));
  for (int first = 0; first < rings; first += each) {
    Group& group = groups.emplace_back();
    group.lanes_are_replicas = true;
    group.first_replica = first;
    group.replicas = std::min(each, rings - first);
    group.slots = (layout.first_slot(group.replicas) + wide - 1) / wide * wide;
  }
  return groups;
}

/// The groups of classical replicas, without their numbers.
std::vector<Group> groups_of_clusters(const GroupLayout& layout, int replicas, int threads) {
  std::vector<Group> groups;
  const auto faster = [&](int some, int members) {
    return molecule_lanes_are_faster(layout.molecules(), some, layout.wide_slots(), members);
  };
  const bool all_alone = !layout.is_small() || faster(replicas, threads);
  const int slots = layout.is_small() ? layout.wide_slots() : 1;
  for (int first = 0; first < replicas; first += slots) {
    const int here = std::min(slots, replicas - first);
    const bool wide = !all_alone && !faster(here, 1);
    for (int r = 0; r < (wide ? 1 : here); ++r) {
      Group& group = groups.emplace_back();
      group.lanes_are_replicas = wide;
      group.slots = wide ? slots : 1;
      group.first_replica = first + r;
      group.replicas = wide ? here : 1;
    }
  }
  return groups;
}

}  // namespace

GroupLayout::GroupLayout(const System& system, int lanes)
    : n_(system.molecules),
      lanes_(lanes),
      copies_(system.path_integral.beads),
      centroid_scale_(1.0 / std::sqrt(static_cast<double>(copies_))),
      small_(is_small_cluster(system.molecules) || has_rings()),
      single_(system.precision == Precision::single),
      wide_(single_ || pair_force_precision(system) == Precision::mixed),
      mass_o_Da_(system.model.mass_o_Da),
      mass_h_Da_(system.model.mass_h_Da),
      cluster_Da_(ClusterMasses(system).cluster_Da(static_cast<std::size_t>(n_))) {
  if (!system.has_isotopes()) return;
  const auto lanes_of_pack = static_cast<std::size_t>(lanes_);
  packed_isotopes_.resize(static_cast<std::size_t>(padded_molecules(n_) * kIsotopeNumbers));
  for (int m = 0; m < padded_molecules(n_); ++m) {
    const auto& masses_Da = system.atom_masses_Da[static_cast<std::size_t>(m < n_ ? m : 0)];
    const AtomMasses<double> a = atom_masses(masses_Da);
    const AtomOuParameters<double> ou =
        ou_parameters(system.model, masses_Da, system.thermostat, system.integrator.timestep_akma);
    const double numbers[kIsotopeNumbers] = {
        a.o,           a.first,    a.second,    a.inverse_o, a.inverse_first, a.inverse_second,
        a.inverse_all, ou.decay_o, ou.decay_h1, ou.decay_h2, ou.kick_o,       ou.kick_h1,
        ou.kick_h2};
    const auto pack = static_cast<std::size_t>(m) / lanes_of_pack * kIsotopeNumbers;
    for (std::size_t k = 0; k < kIsotopeNumbers; ++k) {
      if (m < n_) isotopes_.push_back(numbers[k]);
      packed_isotopes_[(pack + k) * lanes_of_pack + static_cast<std::size_t>(m) % lanes_of_pack] =
          numbers[k];
    }
  }
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
          mass_h_Da_,
          isotopes_.empty()          ? nullptr
          : group.lanes_are_replicas ? isotopes_.data()
                                     : packed_isotopes_.data(),
          cluster_Da_};
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

RingPacks GroupLayout::ring_packs_of(Group& group) const {
  return {isotopes_.empty() ? nullptr : isotopes_.data(),
          group.isotope_ou.data(),
          group.x.data(),
          group.v.data(),
          group.a.data(),
          group.v_thermal.empty() ? nullptr : group.v_thermal.data(),
          group.heat.empty() ? nullptr : group.heat.data(),
          group.bad.data(),
          group.ids.data(),
          group.first_numbers.data(),
          n_,
          group.slots / lanes_,
          mass_o_Da_,
          mass_h_Da_};
}

RingConstants GroupLayout::ring_constants_of(const Group& group) const {
  const auto of = [&](int member) { return group.ring_constants.data() + member * group.slots; };
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6)};
}

std::size_t GroupLayout::small_work_size(const Group& group) const {
  return static_cast<std::size_t>(
      group.lanes_are_replicas ? (n_ + n_ / 2) * wide_slots() * kSiteForceComponents
                               : (kSiteComponents + kSiteForceComponents) * narrow_row_length());
}

void GroupLayout::prepare_to_step(const Group& group, WorkSpace& s) const {
  prepare_to_report(group, s);
  const int block = group.lanes_are_replicas ? wide_slots() * n_ : padded_molecules(n_);
  s.f.resize(s.q.size());
  s.totals.resize(s.q.size() / 3);
  s.sites.resize(static_cast<std::size_t>(block * kSiteComponents));
  if (!small_) {
    s.block_f.resize(block_force_size(padded_molecules(n_), blocks()) / (wide_ ? 2 : 1));
  } else if (!single_) {
    // The doubles also store floats.
    s.work.resize(small_work_size(group) / (wide_ ? 2 : 1) + 1);
    if (has_rings()) return;
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

std::vector<Group> make_groups(const System& system, const GroupLayout& layout, const State& start,
                               int threads) {
  const int replicas = start.replicas();
  std::vector<Group> groups = layout.has_rings() ? groups_of_rings(layout, replicas, threads)
                                                 : groups_of_clusters(layout, replicas, threads);
  const ModesByTemperature modes =
      layout.has_rings() ? modes_by_temperature(system, start) : ModesByTemperature{};
  for_each_index(static_cast<std::int64_t>(groups.size()), threads, [&](std::int64_t g) {
    Group& group = groups[g];
    fill(system, layout, start, group);
    if (layout.has_rings()) fill_modes(system, layout, modes, group);
  });
  return groups;
}

}  // namespace tarn::cpu
