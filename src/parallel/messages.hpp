#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "core/packing.hpp"
#include "frame_parts.hpp"
#include "tarn/ranks.hpp"

/// @file
/// Systems, states, frames and other structs as messages between ranks.

namespace tarn::parallel {

template <class S, class T>
concept Same = std::is_same_v<std::remove_const_t<S>, T>;

// Call f with the members that a message contains. The bindings name all members of the struct: one
// more does not compile until it is listed.

template <Same<ThermostatSpec> S, class F>
void with_members(S& thermostat, const F& f) {
  auto& [kind, temperature_K, temperatures_K, friction_o, friction_h] = thermostat;
  f(kind, temperature_K, temperatures_K, friction_o, friction_h);
}
template <Same<BiasSpec> S, class F>
void with_members(S& bias, const F& f) {
  auto& [coordinate, kind, molecules, r0_A, stiffness, centres] = bias;
  f(coordinate, kind, molecules, r0_A, stiffness, centres);
}
template <Same<System> S, class F>
void with_members(S& system, const F& f) {
  auto& [model, molecules, integrator, thermostat, confinement, biases, path_integral,
         zero_momentum, seed, precision, atom_masses_Da] = system;
  f(model, molecules, integrator, thermostat, confinement, biases, path_integral, zero_momentum,
    seed, precision, atom_masses_Da);
}
template <Same<State> S, class F>
void with_members(S& state, const F& f) {
  auto& [molecules, step, replica_ids, positions_A, velocities, heat, beads] = state;
  f(molecules, step, replica_ids, positions_A, velocities, heat, beads);
}
template <Same<LindemannSums> S, class F>
void with_members(S& sums, const F& f) {
  auto& [samples, replica_ids, means_A, squares_A2] = sums;
  f(samples, replica_ids, means_A, squares_A2);
}
template <Same<MeasureSettings> S, class F>
void with_members(S& settings, const F& f) {
  auto& [link_A, lindemann, sums, moment_groups, radial, exchange_every] = settings;
  f(link_A, lindemann, sums, moment_groups, radial, exchange_every);
}
template <Same<GroupMoments> S, class F>
void with_members(S& moments, const F& f) {
  auto& [groups, numbers, counts, pivots, sums, squares, products] = moments;
  f(groups, numbers, counts, pivots, sums, squares, products);
}
template <Same<EnginePart> S, class F>
void with_members(S& part, const F& f) {
  auto& [rank, host, device, device_id, arithmetic, replicas, first, last] = part;
  f(rank, host, device, device_id, arithmetic, replicas, first, last);
}
template <Same<PartExchanges> S, class F>
void with_members(S& exchanges, const F& f) {
  auto& [within, across, sources] = exchanges;
  f(within, across, sources);
}
template <Same<RankPlace> S, class F>
void with_members(S& place, const F& f) {
  auto& [rank, host, rank_on_node, ranks_on_node, processors, threads, devices] = place;
  f(rank, host, rank_on_node, ranks_on_node, processors, threads, devices);
}
template <Same<LaunchedTask> S, class F>
void with_members(S& task, const F& f) {
  auto& [arguments, contents, folder] = task;
  f(arguments, contents, folder);
}
/// Rows of replicas: without the numbers of groups.
template <Same<Frame> S, class F>
void with_members(S& frame, const F& f) {
  auto& [step, time_ps, molecules, beads, replica_ids, positions_A, velocities, beads_A,
         atom_kinetic, own_positions_A, multipliers, energies, conservation, heat, shape, parts,
         lindemann, lindemann_sums, exchange_energies, rescaled_energies, dipoles, geometry, rings,
         energy_moments, shape_moments, geometry_moments, lindemann_moments, radial_counts,
         pair_counts, pair_samples] = frame;
  f(step, time_ps, molecules, beads, replica_ids, positions_A, velocities, beads_A, atom_kinetic,
    own_positions_A, multipliers, energies, conservation, heat, shape, parts, lindemann,
    lindemann_sums, exchange_energies, rescaled_energies, dipoles, geometry, rings);
}

/// A copy of a name that stays valid until the process ends.
inline std::string_view kept_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return *names.insert(name).first;
}

template <class V>
concept ListOfStructs = requires {
  typename V::value_type;
}
&&!std::is_trivially_copyable_v<typename V::value_type>;

/// Puts values, the members of structs, and the elements of vectors after their number.
template <class... T>
void pack(Packer& to, const T&... values) {
  const auto put = [&]<class V>(const V& value) {
    if constexpr (requires { with_members(value, [](const auto&...) {}); }) {
      with_members(value, [&](const auto&... members) { pack(to, members...); });
    } else if constexpr (std::is_same_v<V, WaterModel>) {
      to.put(value).put(std::string(value.name));
    } else if constexpr (ListOfStructs<V>) {
      to.put(value.size());
      for (const auto& one : value) pack(to, one);
    } else {
      to.put(value);
    }
  };
  (put(values), ...);
}
/// The names of water models stay valid until the process ends.
template <class... T>
void unpack(Unpacker& from, T&... values) {
  const auto take = [&]<class V>(V& value) {
    if constexpr (requires { with_members(value, [](auto&...) {}); }) {
      with_members(value, [&](auto&... members) { unpack(from, members...); });
    } else if constexpr (std::is_same_v<V, WaterModel>) {
      from.take(value);
      value.name = kept_name(from.take<std::string>());
    } else if constexpr (ListOfStructs<V>) {
      value.resize(from.take<std::size_t>());
      for (auto& one : value) unpack(from, one);
    } else {
      from.take(value);
    }
  };
  (take(values), ...);
}
/// A message with these values.
template <class... T>
Words packed(const T&... values) {
  Words words;
  Packer to(words);
  pack(to, values...);
  return words;
}
template <class... T>
void unpack(const Words& words, T&... values) {
  Unpacker from(words);
  unpack(from, values...);
}

}  // namespace tarn::parallel
