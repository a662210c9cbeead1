#include "messages.hpp"

#include <mutex>
#include <set>
#include <string_view>

namespace tarn::parallel {
namespace {

/// A copy of a name that stays valid until the process ends.
std::string_view kept_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return *names.insert(name).first;
}

}  // namespace

// The bindings name all members: one more does not compile until it is packed.

void pack(const System& system, Packer& to) {
  const auto& [model, molecules, integrator, thermostat, confinement, path_integral, zero_momentum,
               seed, precision] = system;
  const auto& [kind, temperature_K, temperatures_K, friction_o, friction_h] = thermostat;
  WaterModel nameless = model;
  nameless.name = {};
  to.put(nameless).put(std::string(model.name)).put(molecules).put(integrator);
  to.put(kind).put(temperature_K).put(temperatures_K).put(friction_o).put(friction_h);
  to.put(confinement).put(path_integral).put(zero_momentum).put(seed).put(precision);
}

System unpack_system(Unpacker& from) {
  System system;
  from.take(system.model);
  system.model.name = kept_name(from.take<std::string>());
  from.take(system.molecules);
  from.take(system.integrator);
  ThermostatSpec& thermostat = system.thermostat;
  from.take(thermostat.kind);
  from.take(thermostat.temperature_K);
  from.take(thermostat.temperatures_K);
  from.take(thermostat.friction_oxygen_per_akma);
  from.take(thermostat.friction_hydrogen_per_akma);
  from.take(system.confinement);
  from.take(system.path_integral);
  from.take(system.zero_momentum);
  from.take(system.seed);
  from.take(system.precision);
  return system;
}

void pack(const PairCountRequest& counts, Packer& to) { to.put(counts); }
PairCountRequest unpack_counts(Unpacker& from) { return from.take<PairCountRequest>(); }

void pack(const State& state, Packer& to) {
  const auto& [molecules, step, replica_ids, positions_A, velocities, heat, beads] = state;
  to.put(molecules)
      .put(step)
      .put(replica_ids)
      .put(positions_A)
      .put(velocities)
      .put(heat)
      .put(beads);
}

State unpack_state(Unpacker& from) {
  State state;
  from.take(state.molecules);
  from.take(state.step);
  from.take(state.replica_ids);
  from.take(state.positions_A);
  from.take(state.velocities_A_per_akma);
  from.take(state.heat_kcal_per_mol);
  from.take(state.beads);
  return state;
}

void pack(const LindemannSums& sums, Packer& to) {
  const auto& [samples, replica_ids, means_A, squares_A2] = sums;
  to.put(samples).put(replica_ids).put(means_A).put(squares_A2);
}
void unpack(Unpacker& from, LindemannSums& sums) {
  from.take(sums.samples);
  from.take(sums.replica_ids);
  from.take(sums.means_A);
  from.take(sums.squares_A2);
}

void pack(const MeasureSettings& settings, std::span<const std::int64_t> replica_ids,
          std::size_t pairs, Packer& to) {
  const auto& [link_A, lindemann, sums, moment_groups, radial] = settings;
  LindemannSums some;
  some.samples = sums.samples;
  const std::set<std::int64_t> wanted(replica_ids.begin(), replica_ids.end());
  for (std::size_t r = 0; r < sums.replica_ids.size(); ++r) {
    if (!wanted.contains(sums.replica_ids[r])) continue;
    some.replica_ids.push_back(sums.replica_ids[r]);
    const auto append = [&](const std::vector<double>& all, std::vector<double>& part) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * pairs);
      part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(pairs));
    };
    append(sums.means_A, some.means_A);
    append(sums.squares_A2, some.squares_A2);
  }
  to.put(link_A).put(lindemann).put(moment_groups).put(radial);
  pack(some, to);
}

MeasureSettings unpack_settings(Unpacker& from) {
  MeasureSettings settings;
  from.take(settings.link_A);
  from.take(settings.lindemann);
  from.take(settings.moment_groups);
  from.take(settings.radial);
  unpack(from, settings.lindemann_sums);
  return settings;
}

void pack(const GroupMoments& moments, Packer& to) {
  const auto& [groups, numbers, counts, pivots, sums, squares, products] = moments;
  to.put(groups).put(numbers).put(counts).put(pivots).put(sums).put(squares).put(products);
}
void unpack(Unpacker& from, GroupMoments& moments) {
  from.take(moments.groups);
  from.take(moments.numbers);
  from.take(moments.counts);
  from.take(moments.pivots);
  from.take(moments.sums);
  from.take(moments.squares);
  from.take(moments.products);
}

void pack_rows(const Frame& frame, Packer& to) {
  to.put(frame.step).put(frame.time_ps).put(frame.molecules).put(frame.beads);
  to.put(frame.replica_ids).put(frame.positions_A).put(frame.velocities_A_per_akma);
  to.put(frame.beads_A)
      .put(frame.atom_kinetic_kcal_per_mol)
      .put(frame.own_positions_A)
      .put(frame.multipliers_kcal_per_mol_A2);
  to.put(frame.energies).put(frame.conservation).put(frame.heat_kcal_per_mol).put(frame.shape);
  to.put(frame.parts).put(frame.lindemann).put(frame.exchange_energies_kcal_per_mol);
  to.put(frame.geometry).put(frame.rings);
  pack(frame.lindemann_sums, to);
}

void unpack_rows(Unpacker& from, Frame& frame) {
  from.take(frame.step);
  from.take(frame.time_ps);
  from.take(frame.molecules);
  from.take(frame.beads);
  from.take(frame.replica_ids);
  from.take(frame.positions_A);
  from.take(frame.velocities_A_per_akma);
  from.take(frame.beads_A);
  from.take(frame.atom_kinetic_kcal_per_mol);
  from.take(frame.own_positions_A);
  from.take(frame.multipliers_kcal_per_mol_A2);
  from.take(frame.energies);
  from.take(frame.conservation);
  from.take(frame.heat_kcal_per_mol);
  from.take(frame.shape);
  from.take(frame.parts);
  from.take(frame.lindemann);
  from.take(frame.exchange_energies_kcal_per_mol);
  from.take(frame.geometry);
  from.take(frame.rings);
  unpack(from, frame.lindemann_sums);
}

void pack(const std::vector<std::string>& texts, Words& to) {
  Packer packer(to);
  packer.put(std::uint64_t{texts.size()});
  for (const std::string& text : texts) packer.put(text);
}
std::vector<std::string> unpack_texts(std::span<const std::uint64_t> from) {
  Unpacker unpacker(from);
  std::vector<std::string> texts(unpacker.take<std::uint64_t>());
  for (std::string& text : texts) unpacker.take(text);
  return texts;
}

void pack(const EnginePart& part, Packer& to) {
  const auto& [rank, host, device, device_id, arithmetic, replicas, first, last] = part;
  to.put(rank).put(host).put(device).put(device_id).put(arithmetic);
  to.put(replicas).put(first).put(last);
}
EnginePart unpack_part(Unpacker& from) {
  EnginePart part;
  from.take(part.rank);
  from.take(part.host);
  from.take(part.device);
  from.take(part.device_id);
  from.take(part.arithmetic);
  from.take(part.replicas);
  from.take(part.first_replica);
  from.take(part.last_replica);
  return part;
}

}  // namespace tarn::parallel
