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
TARN_HD constexpr bool is_power_of_two(int number) { return (number & (number - 1)) == 0; }
/// Lanes from one cluster of a warp to the next: a power of two where as many clusters find room,
/// so that sums over a cluster need not ask which lanes have something.
TARN_HD constexpr int cluster_lanes(int molecules) {
  int lanes = 1;
  while (lanes < molecules) lanes *= 2;
  return kWarpLanes / lanes == clusters_per_warp(molecules) ? lanes : molecules;
}

/// What lane `lane` of warp `warp` works on: both -1 if it is idle.
struct LanePlace {
  std::int64_t replica;
  int molecule;  ///< within the cluster
};
TARN_HD constexpr LanePlace place_of(std::int64_t warp, int lane, int molecules,
                                     std::int64_t replicas) {
  const int per_warp = clusters_per_warp(molecules), lanes = cluster_lanes(molecules);
  const std::int64_t replica = warp * per_warp + lane / lanes;
  const bool idle = lane / lanes >= per_warp || lane % lanes >= molecules || replica >= replicas;
  if (idle) return {-1, -1};
  return {replica, lane % lanes};
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
/// end. Who adds what is a function of N only. Where cluster_lanes(N) is a power of two, idle lanes
/// can bring zeros, and each lane adds what the one o to its left or right has: the same sums, and
/// all have the last one.
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
TARN_HD constexpr int block_threads(int molecules) {
  return (molecules + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
}
/// Slices: parts that the work on a molecule is dealt to. How many is a function of N only, so that
/// sums have one order. On the block path as many as make twelve warps at most: with more, threads
/// have too few registers.
inline constexpr int kBlockWarps = 12;
TARN_HD constexpr int block_slices(int molecules) {
  return kBlockWarps / (block_threads(molecules) / kWarpLanes);
}
/// Rows of threads that the slices of a cluster are dealt to: a row each; or, where there are
/// clusters enough to fill a device twice with one row each, that one, which does them one after
/// another: then no row waits while the first one ends a step. No bit depends on it.
constexpr int block_rows(int molecules, std::int64_t replicas, int multiprocessors) {
  const std::int64_t warps = replicas * block_threads(molecules) / kWarpLanes;
  return warps < std::int64_t{2} * kBlockWarps * multiprocessors ? block_slices(molecules) : 1;
}
inline constexpr int kTile = 64;  ///< molecules of a tile of an observation
TARN_HD constexpr int tiles_for(int molecules) { return (molecules + kTile - 1) / kTile; }
/// Slices of an observation.
TARN_HD constexpr int observed_slices(int molecules) {
  const int slices = molecules / 16;
  return slices < 1 ? 1 : slices > 64 ? 64 : slices;
}

/// Partners first .. last - 1 of a slice.
struct Range {
  int first, last;
};
/// In 32 bits, which a GPU divides five times as fast: there are 64 slices at most.
TARN_HD constexpr Range slice_range(int slice, int slices, int molecules) {
  const auto end = [&](int k) {
    return static_cast<int>(static_cast<unsigned>(molecules) * static_cast<unsigned>(k) /
                            static_cast<unsigned>(slices));
  };
  return {end(slice), end(slice + 1)};
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

// --- pairs of the block and the tile path --------------------------------------------------------

/// A strip is up to 32 molecules, those of a warp. A cluster has as many as it must, with the same
/// even number M of molecules each, of which the last strip may lack some. Lane l < M of a strip
/// meets partner l + t (modulo M) of another strip, or of its own, in turn t.
inline constexpr int kStrip = kWarpLanes;
TARN_HD constexpr int strips_for(int molecules) { return (molecules + kStrip - 1) / kStrip; }
TARN_HD constexpr int strip_size(int molecules) {
  const int halves = 2 * strips_for(molecules);
  return 2 * ((molecules + halves - 1) / halves);
}
/// Molecule of a thread where each strip has 32 of them; -1 if it has none.
TARN_HD constexpr int molecule_of_thread(int thread, int molecules) {
  const int size = strip_size(molecules), lane = thread % kStrip;
  const int molecule = thread / kStrip * size + lane;
  return lane < size && molecule < molecules ? molecule : -1;
}
/// @param lane below M
TARN_HD constexpr int partner_of_turn(int lane, int turn, int size) {
  return lane + turn < size ? lane + turn : lane + turn - size;
}
/// Who hands over what a partner of this lane feels next: its partner is the same one turn before.
TARN_HD constexpr int next_lane(int lane, int size) {
  return lane + 1 < size ? lane + 1 : lane < size ? 0 : lane;
}

/// Up to four strips that lie in shared memory meet each other in rounds, so that each pair is met
/// once and all strips have equally much to do. Strip s meets itself in turns 1 .. M/2 of round 0,
/// and strip s + k (modulo T) in round k = 1 .. T/2: in all M turns, or where 2k = T in half of
/// them, 0 .. M/2 - 1 from the one and 1 .. M/2 from the other side.
struct StripMeeting {
  int partner;
  Range turns;
};
TARN_HD constexpr int turns_of_strip(int strips, int size) { return size / 2 * strips; }
/// @param all of all turns of all rounds, those that are to be done
TARN_HD constexpr StripMeeting strip_meeting(int strip, int round, int strips, int size,
                                             const Range& all) {
  const int half = size / 2;
  const bool shared = 2 * round == strips;
  const int begin = round == 0 ? 0 : half + size * (round - 1);
  const int end = begin + (round == 0 || shared ? half : size);
  const int turn = (round == 0 || (shared && strip >= round) ? 1 : 0) - begin;
  const int first = all.first > begin ? all.first : begin;
  const int last = all.last < end ? all.last : end;
  return {strip + round < strips ? strip + round : strip + round - strips,
          {first + turn, last + turn}};
}
/// A lane meets its partners in turns before this one: in turn M/2 of its own strip, it or its
/// partner does.
TARN_HD constexpr int turns_to_meet(int lane, int round, int size) {
  return round > 0 || lane < size / 2 ? size : size / 2;
}

/// A band is up to four strips, a thread each molecule. The bands of a cluster meet each other in
/// rounds, too: band b meets the strips of band b + k (modulo B), one after the other, in round
/// k = 1 .. B/2; where 2k = B the second half of the bands rests. In round 0 its own strips meet
/// each other.
inline constexpr int kBandStrips = 4;
inline constexpr int kBand = kBandStrips * kStrip;
TARN_HD constexpr int bands_for(int molecules) { return (molecules + kBand - 1) / kBand; }
/// Molecules of a band, of which the last one may lack some.
TARN_HD constexpr int band_size(int molecules) { return kBandStrips * strip_size(molecules); }
/// Strips of a band that are there.
TARN_HD constexpr int strips_of_band(int band, int molecules) {
  const int strips = strips_for(molecules) - band * kBandStrips;
  return strips < kBandStrips ? strips : kBandStrips;
}
/// Few bands would leave the chip empty: there the turns with a strip are dealt to two blocks.
TARN_HD constexpr int strip_parts(int molecules) {
  return molecules > kBand && molecules <= 1024 ? 2 : 1;
}
/// What is dealt to the blocks of a band, its slices: pieces of round 0, and the meetings with
/// strips of other bands. Enough slices to fill a chip with one cluster of 1000, and no more,
/// because each adds a sum to memory.
TARN_HD constexpr int own_pieces(int molecules) {
  return strips_of_band(0, molecules) * strip_parts(molecules);
}
TARN_HD constexpr int force_pieces(int molecules) {
  return own_pieces(molecules) +
         rounds(bands_for(molecules)) * kBandStrips * strip_parts(molecules);
}
TARN_HD constexpr int force_slices(int molecules) {
  return force_pieces(molecules) < 40 ? force_pieces(molecules) : 40;
}
/// Sums of the force on a molecule in memory, in the order in which they are added: one of each
/// slice of its own band, and those of the bands that meet it.
TARN_HD constexpr int force_rows(int molecules) {
  return force_slices(molecules) + rounds(bands_for(molecules)) * strip_parts(molecules);
}
/// Whether there is such a sum for the molecules of a band.
TARN_HD constexpr bool has_row(int row, int band, int molecules) {
  const int bands = bands_for(molecules), slices = force_slices(molecules);
  if (row < slices) return true;
  const int round = 1 + (row - slices) / strip_parts(molecules);
  return meets(band >= round ? band - round : band - round + bands, round, bands);
}

/// What a block of pairs works on.
struct PairBlock {
  std::int64_t replica;
  int band, slice;
};
TARN_HD constexpr int pair_blocks(int molecules) {
  return bands_for(molecules) * force_slices(molecules);
}
TARN_HD constexpr PairBlock pair_block(unsigned block, int molecules) {
  const auto bands = static_cast<unsigned>(bands_for(molecules));
  const auto slices = static_cast<unsigned>(force_slices(molecules));
  return {block / bands / slices, static_cast<int>(block % bands),
          static_cast<int>(block / bands % slices)};
}
/// Whether a multiprocessor has no more than three of them.
constexpr bool few_pair_blocks(int molecules, std::int64_t replicas, int multiprocessors) {
  return replicas * pair_blocks(molecules) <= std::int64_t{3} * multiprocessors;
}
struct PairWork {
  Range own_turns;  ///< of the strips of the band with each other; see strip_meeting()
  Range meetings;   ///< with strips of other bands; see band_meeting()
};
TARN_HD constexpr PairWork pair_work(int band, int slice, int molecules) {
  const Range pieces = slice_range(slice, force_slices(molecules), force_pieces(molecules));
  const int own = own_pieces(molecules);
  const int turns = turns_of_strip(strips_of_band(band, molecules), strip_size(molecules));
  const auto turn = [&](int piece) { return turns * (piece < own ? piece : own) / own; };
  const auto meeting = [&](int piece) { return piece < own ? 0 : piece - own; };
  return {{turn(pieces.first), turn(pieces.last)}, {meeting(pieces.first), meeting(pieces.last)}};
}
struct BandMeeting {
  int first, count;  ///< molecules of the strip; none if it is not there or not met
  Range turns;
  int row;  ///< of what the strip feels
};
TARN_HD constexpr BandMeeting band_meeting(int meeting, int band, int molecules) {
  const int bands = bands_for(molecules), parts = strip_parts(molecules);
  const int strip = meeting / parts, part = meeting % parts;
  const int round = 1 + strip / kBandStrips;
  const int other = band + round < bands ? band + round : band + round - bands;
  const int size = strip_size(molecules);
  const int first = (other * kBandStrips + strip % kBandStrips) * size;
  const int left = meets(band, round, bands) ? molecules - first : 0;
  return {first,
          left < 0      ? 0
          : left < size ? left
                        : size,
          slice_range(part, parts, size), force_slices(molecules) + (round - 1) * parts + part};
}

// --- the end of a step on the tile path ----------------------------------------------------------

/// What a block of the end of a step works on: some molecules of one replica.
struct MoleculeChunk {
  std::int64_t replica;
  int first;
};
inline constexpr int kChunk = kWarpLanes;  ///< molecules of a chunk, the last one may have fewer
TARN_HD constexpr int molecule_chunks(int molecules) { return (molecules + kChunk - 1) / kChunk; }
/// Parts of the sums of a molecule. Rows of threads that they are dealt to: a row each, or, where
/// chunks fill a device anyway, one row, which does them one after another. No bit depends on it.
inline constexpr int kSumParts = 8;
constexpr int sum_rows(int molecules, std::int64_t replicas, int multiprocessors) {
  return replicas * molecule_chunks(molecules) < std::int64_t{8} * multiprocessors ? kSumParts : 1;
}
TARN_HD constexpr MoleculeChunk molecule_chunk(unsigned block, int molecules) {
  const auto chunks = static_cast<unsigned>(molecule_chunks(molecules));
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
  return replica / per_warp * kWarpLanes + replica % per_warp * cluster_lanes(molecules) + molecule;
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
