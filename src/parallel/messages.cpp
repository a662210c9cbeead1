#include <mutex>
#include <set>
#include <string_view>
#include <type_traits>

#include "transport.hpp"

namespace tarn::parallel {
namespace {

/// A copy of a name that stays valid until the process ends.
std::string_view kept_name(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return *names.insert(name).first;
}

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

/// Puts values, and the members of structs.
template <class... T>
void put_all(Packer& to, const T&... values) {
  const auto put = [&](const auto& value) {
    if constexpr (requires { with_members(value, [](const auto&...) {}); }) {
      with_members(value, [&](const auto&... members) { put_all(to, members...); });
    } else {
      to.put(value);
    }
  };
  (put(values), ...);
}
template <class... T>
void take_all(Unpacker& from, T&... values) {
  const auto take = [&](auto& value) {
    if constexpr (requires { with_members(value, [](auto&...) {}); }) {
      with_members(value, [&](auto&... members) { take_all(from, members...); });
    } else {
      from.take(value);
    }
  };
  (take(values), ...);
}
template <class T>
T taken(Unpacker& from) {
  T value;
  take_all(from, value);
  return value;
}

}  // namespace

void pack(const System& system, Packer& to) {
  const auto& [model, molecules, integrator, thermostat, confinement, biases, path_integral,
               zero_momentum, seed, precision, atom_masses_Da] = system;
  WaterModel nameless = model;
  nameless.name = {};
  put_all(to, nameless, std::string(model.name), molecules, integrator, thermostat, confinement,
          path_integral, zero_momentum, seed, precision, atom_masses_Da, biases.size());
  for (const BiasSpec& bias : biases) put_all(to, bias);
}
System unpack_system(Unpacker& from) {
  System system;
  std::string name;
  take_all(from, system.model, name, system.molecules, system.integrator, system.thermostat,
           system.confinement, system.path_integral, system.zero_momentum, system.seed,
           system.precision, system.atom_masses_Da);
  system.biases.resize(taken<std::size_t>(from));
  for (BiasSpec& bias : system.biases) take_all(from, bias);
  system.model.name = kept_name(name);
  return system;
}

void pack(const PairCountRequest& counts, Packer& to) { to.put(counts); }
PairCountRequest unpack_counts(Unpacker& from) { return from.take<PairCountRequest>(); }

void pack(const State& state, Packer& to) { put_all(to, state); }
State unpack_state(Unpacker& from) { return taken<State>(from); }

void pack(const LindemannSums& sums, Packer& to) { put_all(to, sums); }
void unpack(Unpacker& from, LindemannSums& sums) { take_all(from, sums); }

void pack(const MeasureSettings& settings, std::span<const std::int64_t> replica_ids,
          std::size_t pairs, Packer& to) {
  const auto& [link_A, lindemann, sums, moment_groups, radial, exchange_every] = settings;
  MeasureSettings some{link_A, lindemann, {}, moment_groups, radial, exchange_every};
  some.lindemann_sums.samples = sums.samples;
  const std::set<std::int64_t> wanted(replica_ids.begin(), replica_ids.end());
  for (std::size_t r = 0; r < sums.replica_ids.size(); ++r) {
    if (!wanted.contains(sums.replica_ids[r])) continue;
    some.lindemann_sums.replica_ids.push_back(sums.replica_ids[r]);
    const auto append = [&](const std::vector<double>& all, std::vector<double>& part) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * pairs);
      part.insert(part.end(), begin, begin + static_cast<std::ptrdiff_t>(pairs));
    };
    append(sums.means_A, some.lindemann_sums.means_A);
    append(sums.squares_A2, some.lindemann_sums.squares_A2);
  }
  put_all(to, some);
}
MeasureSettings unpack_settings(Unpacker& from) { return taken<MeasureSettings>(from); }

void pack(const GroupMoments& moments, Packer& to) { put_all(to, moments); }
void unpack(Unpacker& from, GroupMoments& moments) { take_all(from, moments); }

void pack_rows(const Frame& frame, Packer& to) { put_all(to, frame); }
void unpack_rows(Unpacker& from, Frame& frame) { take_all(from, frame); }

void pack(const std::vector<std::string>& texts, Words& to) {
  Packer packer(to);
  packer.put(std::uint64_t{texts.size()});
  for (const std::string& text : texts) packer.put(text);
}
std::vector<std::string> unpack_texts(Unpacker& from) {
  std::vector<std::string> texts(from.take<std::uint64_t>());
  for (std::string& text : texts) from.take(text);
  return texts;
}

void pack(const EnginePart& part, Packer& to) { put_all(to, part); }
EnginePart unpack_part(Unpacker& from) { return taken<EnginePart>(from); }

}  // namespace tarn::parallel
