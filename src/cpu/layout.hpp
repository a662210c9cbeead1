#pragma once

#include <cstddef>

#include "kernel_table.hpp"

namespace tarn::cpu {

/// Where lane `lane` of coordinate `coordinate` (0..8) of pack `pack` lies.
constexpr std::size_t pack_index(int lanes, std::size_t pack, int coordinate, int lane) {
  return (pack * 9 + static_cast<std::size_t>(coordinate)) * static_cast<std::size_t>(lanes) +
         static_cast<std::size_t>(lane);
}

/// Clusters up to this size sum the forces partner by partner, so that a lane may be a replica or a
/// molecule; the lanes of larger ones are molecules, and their sums go over lanes.
inline constexpr int kSmallClusterMolecules = 32;
constexpr bool is_small_cluster(int molecules) { return molecules <= kSmallClusterMolecules; }

/// Whether so few replicas of a small cluster run faster one by one, with a molecule in each lane,
/// than together: where that takes at most half the packs.
constexpr bool narrow_pays(int molecules, int replicas, int lanes) {
  return 2 * replicas * ((molecules + lanes - 1) / lanes) <= molecules;
}

/// Number of slices that the rows of a large cluster are dealt to: a function of N only.
constexpr int pair_slices(int molecules) {
  const int slices = molecules / 32;
  return slices < 1 ? 1 : slices > 64 ? 64 : slices;
}

constexpr int padded_molecules(int molecules) {
  return (molecules + kPadding - 1) / kPadding * kPadding;
}

}  // namespace tarn::cpu
