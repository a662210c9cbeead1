#pragma once

#include <cstdint>

#include "tarn/core/host_device.hpp"

/// @file
/// Where things lie on the device and who works on what: plain functions of plain numbers, tested
/// on the CPU. The choice among the three paths depends on the number of molecules only.

namespace tarn::gpu {

inline constexpr int kWarpLanes = 32;

/// How a cluster is worked on.
enum class Path {
  warp,   ///< several clusters a warp, a molecule a lane, many steps a launch
  block,  ///< a thread block a cluster, positions in shared memory, many steps a launch
  tiles   ///< tiles over (replica, molecules, slice of the partners), two kernels a step, in graphs
};
inline constexpr int kMostInWarp = 32;
inline constexpr int kMostInBlock = 128;
/// @param together accelerations come from solves that work on all molecules at once
constexpr Path path_of(int molecules, bool together = false) {
  return together                    ? Path::tiles
         : molecules <= kMostInWarp  ? Path::warp
         : molecules <= kMostInBlock ? Path::block
                                     : Path::tiles;
}

// --- warp ----------------------------------------------------------------------------------------

/// Clusters of a warp, side by side; the lanes that are left over are idle.
TARN_HD constexpr int clusters_per_warp(int molecules) { return kWarpLanes / molecules; }
constexpr std::int64_t warps_for(std::int64_t replicas, int molecules) {
  const int per_warp = clusters_per_warp(molecules);
  return (replicas + per_warp - 1) / per_warp;
}

/// What lane `lane` of warp `warp` works on: both -1 if it is idle.
struct LanePlace {
  std::int64_t replica;
  int molecule;  ///< within the cluster
};
TARN_HD constexpr LanePlace place_of(std::int64_t warp, int lane, int molecules,
                                     std::int64_t replicas) {
  const int per_warp = clusters_per_warp(molecules);
  const std::int64_t replica = warp * per_warp + lane / molecules;
  if (lane / molecules >= per_warp || replica >= replicas) return {-1, -1};
  return {replica, lane % molecules};
}

/// Round k = 1 .. N/2 of the pairs of a cluster: molecule i meets i + k (modulo N), so that each
/// pair is met once; where 2k = N the second half of the molecules rests.
TARN_HD constexpr int rounds(int molecules) { return molecules / 2; }
TARN_HD constexpr bool meets(int molecule, int round, int molecules) {
  return molecule >= 0 && (2 * round < molecules || molecule < round);
}
/// Lane of the molecule that `molecule`, of lane `lane`, meets in a round, and of the one that
/// meets it; an idle lane, of molecule -1, is its own partner.
TARN_HD constexpr int partner_lane(int lane, int molecule, int round, int molecules) {
  if (molecule < 0) return lane;
  return molecule + round < molecules ? lane + round : lane + round - molecules;
}
TARN_HD constexpr int meeting_lane(int lane, int molecule, int round, int molecules) {
  if (molecule < 0) return lane;
  return molecule >= round ? lane - round : lane - round + molecules;
}

/// A sum over a cluster halves what is left: with offset o = first_offset(N), o / 2, ..., 1
/// molecule i adds what molecule i + o has, if there is one. The first molecule has the sum in the
/// end. Who adds what is a function of N only.
TARN_HD constexpr int first_offset(int molecules) {
  int offset = 1;
  while (2 * offset < molecules) offset *= 2;
  return molecules > 1 ? offset : 0;
}
TARN_HD constexpr bool adds(int molecule, int offset, int molecules) {
  return molecule >= 0 && molecule + offset < molecules;
}

// --- block and tiles -----------------------------------------------------------------------------

/// Threads along the molecules of a block: whole warps.
constexpr int block_threads(int molecules) {
  return (molecules + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
}
/// Slices: parts that the partners of a molecule are dealt to. How many is a function of N only, so
/// that sums have one order. Three in a block of the block path: with four, the largest one leaves
/// its threads too few registers.
inline constexpr int kBlockSlices = 3;
inline constexpr int kTile = 64;  ///< molecules of a tile
TARN_HD constexpr int tiles_for(int molecules) { return (molecules + kTile - 1) / kTile; }
/// Groups of threads of a block of forces: each takes a slice of the partners of the same tile, and
/// they are added before they go to memory.
inline constexpr int kTileGroups = 4;
/// Partial sums of the force on a molecule in memory: enough blocks to fill a chip with one cluster
/// of 1000, and no more, because they are what goes to and from memory.
TARN_HD constexpr int force_slices(int molecules) {
  const int tiles = tiles_for(molecules);
  return tiles > 16 ? 16 : tiles;
}
/// Slices of an observation.
TARN_HD constexpr int observed_slices(int molecules) {
  const int slices = molecules / 16;
  return slices < 1 ? 1 : slices > 64 ? 64 : slices;
}

/// Partners first .. last - 1 of a slice.
struct Range {
  int first, last;
};
TARN_HD constexpr Range slice_range(int slice, int slices, int molecules) {
  const std::int64_t n = molecules;
  return {static_cast<int>(n * slice / slices), static_cast<int>(n * (slice + 1) / slices)};
}

/// What a block works on: pairs of the molecules of a tile with those of a slice.
struct PairTile {
  std::int64_t replica;
  int tile, slice;
};
TARN_HD constexpr int pair_tiles(int molecules, int slices) {
  return tiles_for(molecules) * slices;
}
constexpr int observed_tiles(int molecules) {
  return pair_tiles(molecules, observed_slices(molecules));
}
TARN_HD constexpr PairTile pair_tile(std::int64_t block, int molecules, int slices) {
  const int tiles = tiles_for(molecules);
  const std::int64_t replica = block / tiles / slices;
  return {replica, static_cast<int>(block % tiles), static_cast<int>(block / tiles % slices)};
}

/// What a block of the end of a step works on: some molecules of one replica.
struct MoleculeChunk {
  std::int64_t replica;
  int first;
};
inline constexpr int kChunk = 32;  ///< molecules of a chunk, the last one may have fewer
TARN_HD constexpr int molecule_chunks(int molecules) { return (molecules + kChunk - 1) / kChunk; }
TARN_HD constexpr MoleculeChunk molecule_chunk(std::int64_t block, int molecules) {
  const int chunks = molecule_chunks(molecules);
  return {block / chunks, static_cast<int>(block % chunks) * kChunk};
}

// --- push-forward Newmark ------------------------------------------------------------------------

inline constexpr int kMostCorrecting = 256;
/// Threads that correct the molecules of a replica: a power of two, so that their sums halve.
constexpr int correcting_threads(int molecules) {
  int threads = kWarpLanes;
  while (threads < molecules && threads < kMostCorrecting) threads *= 2;
  return threads;
}

// --- memory --------------------------------------------------------------------------------------

/// Slots of a coordinate array: one a molecule, and on the warp path one a lane.
constexpr std::int64_t slots_for(Path path, std::int64_t replicas, int molecules) {
  return path == Path::warp ? warps_for(replicas, molecules) * kWarpLanes : replicas * molecules;
}
/// Slot of a molecule; coordinate c of it is element c * slots + slot.
/// @param per_warp clusters_per_warp() on the warp path, 0 on the others
TARN_HD constexpr std::int64_t slot_of(std::int64_t replica, int molecule, int molecules,
                                       int per_warp) {
  if (per_warp == 0) return replica * molecules + molecule;
  return replica / per_warp * kWarpLanes + replica % per_warp * molecules + molecule;
}

// --- dense solves --------------------------------------------------------------------------------

/// Rows of a matrix: those of a molecule, or of all.
TARN_HD constexpr int dense_size(int molecules, bool total) { return total ? 9 * molecules : 9; }
/// Matrices of a call of cuSOLVER's batched functions: a coordinate of a grid ends there, and
/// nobody says that it takes more.
inline constexpr std::int64_t kMostInBatch = 65535;
/// Place of an element, column by column.
TARN_HD constexpr std::int64_t dense_element(int row, int column, int size) {
  return static_cast<std::int64_t>(column) * size + row;
}
/// Numbers from one matrix or right-hand side to the next: an even number, so that all lie as the
/// first one does for who loads two at once. Then nothing tells a replica of a batch from one
/// alone.
TARN_HD constexpr std::int64_t dense_stride(std::int64_t elements) {
  return elements + elements % 2;
}
/// Elements of the right-hand sides of so many slots, and where that of a molecule begins.
constexpr std::int64_t dense_rights(std::int64_t slots, int molecules, bool total) {
  return total ? slots / molecules * dense_stride(dense_size(molecules, true))
               : slots * dense_stride(dense_size(molecules, false));
}
TARN_HD constexpr std::int64_t dense_right(std::int64_t slot, int molecules, bool total) {
  if (!total) return slot * dense_stride(dense_size(molecules, false));
  const std::int64_t replica = slot / molecules;
  return replica * dense_stride(dense_size(molecules, true)) + 9 * (slot - replica * molecules);
}
/// What thread t works on: atoms a of molecule k and b of l. Only l < k is worth it.
struct DenseCoupling {
  int k, l, a, b;
};
constexpr std::int64_t dense_couplings(int molecules) {
  return static_cast<std::int64_t>(molecules) * molecules * 9;
}
TARN_HD constexpr DenseCoupling dense_coupling(std::int64_t thread, int molecules) {
  const std::int64_t pair = thread / 9;
  const int atoms = static_cast<int>(thread % 9);
  return {static_cast<int>(pair / molecules), static_cast<int>(pair % molecules), atoms / 3,
          atoms % 3};
}

}  // namespace tarn::gpu
