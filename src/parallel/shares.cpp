#include "shares.hpp"

#include <algorithm>
#include <numeric>

namespace tarn::parallel {
namespace {

/// Replicas that the CPU advances together, on the widest instruction set.
constexpr std::size_t kPack = 8;

}  // namespace

std::vector<std::size_t> share_begins(std::size_t replicas, std::size_t parts,
                                      const System& system) {
  const std::size_t ladder = std::max<std::size_t>(1, system.thermostat.temperatures_K.size());
  std::size_t unit = 1;
  for (const std::size_t wanted : {std::lcm(ladder, kPack), ladder, kPack}) {
    if (replicas / wanted < parts) continue;
    unit = wanted;
    break;
  }
  const std::size_t units = (replicas + unit - 1) / unit;
  // Fewer units than parts: one each, and none for the others.
  const std::size_t sharing = std::max<std::size_t>(1, std::min(parts, units));
  std::vector<std::size_t> begins(parts + 1, replicas);
  for (std::size_t part = 0; part < sharing; ++part) begins[part] = units * part / sharing * unit;
  return begins;
}

State share_of(const State& state, std::size_t begin, std::size_t end) {
  State share;
  share.molecules = state.molecules;
  share.step = state.step;
  share.beads = state.beads;
  const auto part = [&](const auto& all, std::size_t of_replica) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin * of_replica);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(end * of_replica);
    return std::remove_cvref_t<decltype(all)>(first, last);
  };
  const std::size_t size = state.ring_coordinates();
  share.replica_ids = part(state.replica_ids, 1);
  share.positions_A = part(state.positions_A, size);
  share.velocities_A_per_akma = part(state.velocities_A_per_akma, size);
  if (!state.heat_kcal_per_mol.empty()) {
    share.heat_kcal_per_mol = part(state.heat_kcal_per_mol, size / kCoordinatesPerMolecule);
  }
  return share;
}

State joined(std::span<const State> shares) {
  State all;
  if (shares.empty()) return all;
  all.molecules = shares.front().molecules;
  all.step = shares.front().step;
  all.beads = shares.front().beads;
  const auto join = [&](auto State::*member) {
    std::size_t size = 0;
    for (const State& share : shares) size += (share.*member).size();
    (all.*member).reserve(size);
    for (const State& share : shares) {
      (all.*member).insert((all.*member).end(), (share.*member).begin(), (share.*member).end());
    }
  };
  join(&State::replica_ids);
  join(&State::positions_A);
  join(&State::velocities_A_per_akma);
  join(&State::heat_kcal_per_mol);
  return all;
}

}  // namespace tarn::parallel
