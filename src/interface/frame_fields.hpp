#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tarn/engine.hpp"

/// @file
/// The list of those members of a Frame that have numbers for each replica. Whatever prepares,
/// joins or drops them follows from it; a new field is one line here.

namespace tarn {

/// A member with one row per replica, or with an array of numbers per replica.
template <class T>
struct FrameField {
  unsigned bit;
  std::vector<T> Frame::*member;
  int per_molecule = 0;   ///< numbers of an array; 0: one row per replica
  bool per_bead = false;  ///< the array is that of each bead

  constexpr bool is_row() const { return per_molecule == 0; }
  /// Numbers or rows of `replicas` replicas with these molecules and beads.
  std::size_t size(std::size_t replicas, int molecules, int beads) const {
    if (is_row()) return replicas;
    return replicas * static_cast<std::size_t>(molecules * per_molecule * (per_bead ? beads : 1));
  }
};

/// Calls f(field) for each of them.
template <class F>
void for_each_field(const F& f) {
  f(FrameField<Energies>{kEnergies, &Frame::energies});
  f(FrameField<Conservation>{kConservation, &Frame::conservation});
  f(FrameField<double>{kHeat, &Frame::heat_kcal_per_mol});
  f(FrameField<ClusterMeasures>{kShape, &Frame::shape});
  f(FrameField<ClusterParts>{kParts, &Frame::parts});
  f(FrameField<double>{kLindemann, &Frame::lindemann});
  f(FrameField<double>{kExchangeEnergies, &Frame::exchange_energies_kcal_per_mol});
  f(FrameField<double>{kRescaledEnergies, &Frame::rescaled_energies_kcal_per_mol});
  f(FrameField<std::array<double, 3>>{kDipoles, &Frame::dipoles_e_A});
  f(FrameField<Geometry>{kGeometry, &Frame::geometry});
  f(FrameField<RingMeasures>{kRings, &Frame::rings});
  f(FrameField<double>{kPositions, &Frame::positions_A, 9});
  f(FrameField<double>{kVelocities, &Frame::velocities_A_per_akma, 9});
  f(FrameField<double>{kOwnPositions, &Frame::own_positions_A, 9});
  f(FrameField<double>{kMultipliers, &Frame::multipliers_kcal_per_mol_A2, 3});
  f(FrameField<double>{kBeads, &Frame::beads_A, 9, true});
  f(FrameField<double>{kAtomKinetic, &Frame::atom_kinetic_kcal_per_mol, 3});
}

}  // namespace tarn
