#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel_table.hpp"

namespace tarn::cpu {

/// Index of lane `lane` of coordinate `coordinate` (0..8) of pack `pack`.
constexpr std::size_t pack_index(int lanes, std::size_t pack, int coordinate, int lane) {
  return (pack * 9 + static_cast<std::size_t>(coordinate)) * static_cast<std::size_t>(lanes) +
         static_cast<std::size_t>(lane);
}

/// Clusters up to this size sum the forces in an order that is independent of the lanes, so that a
/// lane may be a replica or a molecule. In larger clusters a lane is a molecule, and sums include
/// sums over lanes.
inline constexpr int kSmallClusterMolecules = 64;
constexpr bool is_small_cluster(int molecules) { return molecules <= kSmallClusterMolecules; }

/// Whether replicas of a small cluster run faster one by one, with one molecule per lane, than
/// together, with one replica per lane. Packs of a single replica take a third longer (measured).
/// @param lanes lanes of the pair type
constexpr bool molecule_lanes_are_faster(int molecules, int replicas, int lanes, int threads) {
  const auto parts = [](std::int64_t n, int size) { return (n + size - 1) / size; };
  const std::int64_t alone = parts(molecules, lanes) * parts(replicas, threads);
  const std::int64_t together = molecules * parts(parts(replicas, lanes), threads);
  return 4 * alone <= 3 * together;
}

/// Length of the row of one component of a small cluster whose lanes are molecules: all molecules,
/// the first half of them again, and one more pack for unaligned stores.
constexpr int narrow_row_length(int molecules, int lanes) {
  const auto whole_packs = [&](int n) { return (n + lanes - 1) / lanes * lanes; };
  return whole_packs(molecules) + whole_packs(molecules / 2) + lanes;
}

/// Number of blocks of a large cluster: about 32 molecules each if tasks pair a block with all
/// later ones, else 128, and larger blocks if there would be more than 16. No block is empty
/// (packs_of_block).
/// @param lanes molecules per pack of the pair type
constexpr int pair_blocks(int molecules, int lanes) {
  const auto parts = [](int n, int size) { return (n + size - 1) / size; };
  const int wanted = pairs_with_all_later_blocks(molecules) ? parts(molecules, 32)
                     : molecules <= 2048                    ? parts(molecules, 128)
                                                            : 16;
  const int full = molecules / lanes;
  return parts(full, parts(full, wanted));
}
/// A task of a thread: a block of rows and its partners. Long tasks come first.
struct BlockTask {
  int row, first_partner, last_partner;
};
constexpr int block_tasks(int molecules, int blocks) {
  return pairs_with_all_later_blocks(molecules) ? blocks : blocks * (blocks + 1) / 2;
}
constexpr BlockTask block_task(int number, int molecules, int blocks) {
  if (pairs_with_all_later_blocks(molecules)) return {number, number, blocks};
  for (int row = 0; row < blocks; ++row) {
    const int partners = blocks - 1 - row;
    if (number < partners) return {row, row + 1 + number, row + 2 + number};
    number -= partners;
  }
  return {number, number, number + 1};
}
/// Number of threads beyond which these tasks do not finish sooner. If tasks pair a block with all
/// later ones, the first task takes (2 blocks - 1) / blocks^2 of the total time.
constexpr int useful_threads(int molecules, int blocks) {
  if (!pairs_with_all_later_blocks(molecules)) return block_tasks(molecules, blocks);
  return blocks <= 3 ? 2 : blocks - 1;
}
/// Size of LargePairs::block_f.
constexpr std::size_t block_force_size(int padded, int blocks) {
  return static_cast<std::size_t>(padded) * static_cast<std::size_t>(blocks) * kSiteForceComponents;
}

constexpr int padded_molecules(int molecules) {
  return (molecules + kPadding - 1) / kPadding * kPadding;
}

}  // namespace tarn::cpu
