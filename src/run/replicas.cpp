#include "replicas.hpp"

#include <cstddef>
#include <set>
#include <utility>

namespace tarn {
namespace {

void append_replica(const State& from, std::size_t r, State& to) {
  to.replica_ids.push_back(from.replica_ids[r]);
  const auto append = [r](const std::vector<double>& all, std::size_t size,
                          std::vector<double>& numbers) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * size);
    numbers.insert(numbers.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  append(from.positions_A, from.ring_coordinates(), to.positions_A);
  append(from.velocities_A_per_akma, from.ring_coordinates(), to.velocities_A_per_akma);
  if (from.heat_kcal_per_mol.empty()) return;
  append(from.heat_kcal_per_mol, from.ring_coordinates() / 9, to.heat_kcal_per_mol);
}

State empty_like(const State& state) {
  State empty;
  empty.molecules = state.molecules;
  empty.beads = state.beads;
  empty.step = state.step;
  return empty;
}

}  // namespace

std::vector<double> replica_part(const State& state, const std::vector<double>& values,
                                 std::size_t replica) {
  const auto size = static_cast<std::ptrdiff_t>(state.ring_coordinates());
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(replica) * size;
  return {begin, begin + size};
}

LiveAndStopped split(State state, const std::vector<BlowUp>& blow_ups) {
  if (blow_ups.empty()) {
    State none = empty_like(state);
    return {std::move(state), std::move(none)};
  }
  std::set<std::int64_t> stopped;
  for (const BlowUp& blow_up : blow_ups) stopped.insert(blow_up.replica);
  LiveAndStopped parts{empty_like(state), empty_like(state)};
  for (std::size_t r = 0; r < state.replica_ids.size(); ++r) {
    append_replica(state, r, stopped.contains(state.replica_ids[r]) ? parts.stopped : parts.live);
  }
  return parts;
}

State join(State live, const State& stopped) {
  if (stopped.replica_ids.empty()) return live;
  State all = empty_like(live);
  std::size_t s = 0;
  for (std::size_t r = 0; r <= live.replica_ids.size(); ++r) {
    while (s < stopped.replica_ids.size() &&
           (r == live.replica_ids.size() || stopped.replica_ids[s] < live.replica_ids[r])) {
      append_replica(stopped, s++, all);
    }
    if (r < live.replica_ids.size()) append_replica(live, r, all);
  }
  return all;
}

}  // namespace tarn
