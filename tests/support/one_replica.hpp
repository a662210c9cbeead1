#pragma once

#include <cstddef>

#include "tarn/state.hpp"

namespace tarn::test {

/// Replica `r` of a state alone.
inline State replica_of(const State& all, std::size_t r) {
  State one = all;
  one.replica_ids = {all.replica_ids[r]};
  for (const auto numbers :
       {&State::positions_A, &State::velocities_A_per_akma, &State::heat_kcal_per_mol}) {
    const std::size_t size = (all.*numbers).size() / all.replica_ids.size();
    const auto first = (all.*numbers).begin() + static_cast<std::ptrdiff_t>(r * size);
    (one.*numbers).assign(first, first + static_cast<std::ptrdiff_t>(size));
  }
  return one;
}

/// A state whose heat is tallied, with the same heat of all molecules so far.
inline State with_heat(State s, double heat_kcal_per_mol = 0.0) {
  s.heat_kcal_per_mol.assign(s.positions_A.size() / 9, heat_kcal_per_mol);
  return s;
}

/// Molecule 1 of the second replica gets a speed at which it blows up in the next step.
inline State with_fast_molecule(State s) {
  for (std::size_t c = 0; c < 9; c += 3) {
    s.velocities_A_per_akma[s.coordinates() + 9 + c] = 200.0;
  }
  return s;
}

}  // namespace tarn::test
