#pragma once

#include <cstdint>

#include "tarn/core/host_device.hpp"

/// @file
/// Memory layout and assignment of work on the device, as constexpr functions that are tested on
/// the CPU. Which of the paths is taken depends on the numbers of molecules and beads only.

namespace tarn::gpu {

inline constexpr int kWarpLanes = 32;

/// How a cluster or a ring polymer is mapped to threads.
enum class Path {
  warp,   ///< several clusters per warp, one molecule per lane, many steps per launch
  block,  ///< one thread block per cluster, positions in shared memory, many steps per launch
  tiles,  ///< blocks over (replica, molecules, slice of partners), two kernels per step, graphs
  ring_block,  ///< whole ring polymers in a block, one molecule of a mode per lane, many steps
  ring_memory  ///< forces on beads, then blocks over (ring polymer, molecule): two kernels, graphs
};
inline constexpr int kMostInWarp = 32;
inline constexpr int kMostInBlock = 128;
inline constexpr int kMostManyBodyMolecules = kWarpLanes;  ///< of many-body models
constexpr bool has_rings(Path path) {
  return path == Path::ring_block || path == Path::ring_memory;
}
/// Whether a step consists of several kernels, in graphs.
constexpr bool has_graphs(Path path) { return path == Path::tiles || path == Path::ring_memory; }

// --- warp ----------------------------------------------------------------------------------------

/// Clusters per warp, side by side; remaining lanes are idle.
TARN_HD constexpr int clusters_per_warp(int molecules) { return kWarpLanes / molecules; }
constexpr std::int64_t warps_for(std::int64_t replicas, int molecules) {
  const int per_warp = clusters_per_warp(molecules);
  return (replicas + per_warp - 1) / per_warp;
}
TARN_HD constexpr bool is_power_of_two(int number) { return (number & (number - 1)) == 0; }
/// Lanes from one cluster of a warp to the next: a power of two if as many clusters fit, so that
/// sums over a cluster need no test for idle lanes.
TARN_HD constexpr int cluster_lanes(int molecules) {
  int lanes = 1;
  while (lanes < molecules) lanes *= 2;
  return kWarpLanes / lanes == clusters_per_warp(molecules) ? lanes : molecules;
}

/// The replica and molecule of a lane; both -1 if it is idle.
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

/// Rounds of the pairs of a cluster. In round k = 1 .. N/2 molecule i forms a pair with the partner
/// i + k (modulo N), so that each pair occurs once; if 2k = N, only for the first half of the
/// molecules.
TARN_HD constexpr int rounds(int molecules) { return molecules / 2; }
TARN_HD constexpr bool meets(int molecule, int round, int molecules) {
  return molecule >= 0 && (2 * round < molecules || molecule < round);
}
/// The lane of the partner of `molecule` (in lane `lane`), and the lane whose partner it is. An
/// idle lane (molecule -1) is its own partner.
TARN_HD constexpr int partner_lane(int lane, int molecule, int round, int molecules) {
  if (molecule < 0) return lane;
  return molecule + round < molecules ? lane + round : lane + round - molecules;
}
TARN_HD constexpr int meeting_lane(int lane, int molecule, int round, int molecules) {
  if (molecule < 0) return lane;
  return molecule >= round ? lane - round : lane - round + molecules;
}

// --- ring polymers -------------------------------------------------------------------------------

/// Warps of a block with this many ring polymers; their beads are clusters, side by side.
constexpr int ring_warps(int rings, int beads, int molecules) {
  return static_cast<int>(warps_for(static_cast<std::int64_t>(rings) * beads, molecules));
}
/// With more threads a thread would have fewer than 128 registers.
inline constexpr int kMostRingThreads = 512;
constexpr bool ring_fits_in_block(int beads, int molecules) {
  return molecules <= kMostInWarp &&
         ring_warps(1, beads, molecules) * kWarpLanes <= kMostRingThreads;
}
/// Ring polymers per block: as many as 128 threads hold.
constexpr int rings_in_block(int beads, int molecules) {
  constexpr int kUsualWarps = 4;
  int rings = 1;
  while (ring_warps(rings + 1, beads, molecules) <= kUsualWarps) ++rings;
  return rings;
}
/// Most ring polymers in a block: of two beads of one molecule.
inline constexpr int kMostRingsInBlock = 64;
static_assert(rings_in_block(2, 1) == kMostRingsInBlock);

/// @param together whether accelerations are solved for all molecules together, or forces are
/// those of a ManyBodyStage
constexpr Path path_of(int molecules, bool together = false, int beads = 1) {
  if (beads > 1) {
    return !together && ring_fits_in_block(beads, molecules) ? Path::ring_block : Path::ring_memory;
  }
  return together                    ? Path::tiles
         : molecules <= kMostInWarp  ? Path::warp
         : molecules <= kMostInBlock ? Path::block
                                     : Path::tiles;
}

/// Transforms between beads and modes are products with a matrix, halved by symmetry (equation
/// (80)): cosine modes are even in the beads and sine modes odd. Of P numbers, the first ones
/// belong to the cosine modes and the others to the sine modes. Before a transform to modes the
/// beads are folded: f(j) + f(P-1-j) in place j, f(j) - f(P-1-j) in place P-1-j. After a transform
/// to beads the parts are unfolded: even(j) + odd(j) in place j, even(j) - odd(j) in place P-1-j.
///
/// The numbers from which number `to` of a transform is made, in the order of the sum.
struct RingInputs {
  int first, step, count;
};
TARN_HD constexpr int even_numbers(int beads) { return (beads + 1) / 2; }
TARN_HD constexpr RingInputs inputs_of_modes(int to, int beads) {
  const int even = even_numbers(beads);
  return to < even ? RingInputs{0, 1, even} : RingInputs{beads - 1, -1, beads - even};
}
TARN_HD constexpr RingInputs inputs_of_beads(int to, int beads) {
  const int even = even_numbers(beads);
  return to < even ? RingInputs{0, 1, even} : RingInputs{even, 1, beads - even};
}

/// Number `to` of a transform. All kernels add in the same order and give the same bits.
/// @param table RingTables::to_modes or to_beads
/// @param number returns an input, folded if the transform is to modes
template <class V, class T, class Number>
TARN_HD V transformed(const T* table, int beads, int to, const RingInputs& inputs,
                      const Number& number) {
  V sum{};
  for (int k = 0; k < inputs.count; ++k) {
    sum = fma(table[k * beads + to], number(inputs.first + k * inputs.step), sum);
  }
  return sum;
}

/// Number `at` of the folded beads, or of the unfolded ones.
/// @param own,opposite the numbers at `at` and at P - 1 - at
template <class V>
TARN_HD V folded(int at, int beads, const V& own, const V& opposite) {
  const int even = even_numbers(beads);
  return at == beads - 1 - at ? own : at < even ? own + opposite : opposite - own;
}

/// Sums over a cluster by halving: for the offsets o = first_offset(N), o / 2, ..., 1 molecule i
/// adds the value of molecule i + o, if it exists; the first molecule ends with the sum. The order
/// of additions is a function of N only. If cluster_lanes(N) is a power of two, idle lanes
/// contribute zeros and a butterfly gives the same sum in all lanes.
TARN_HD constexpr int first_offset(int molecules) {
  int offset = 1;
  while (2 * offset < molecules) offset *= 2;
  return molecules > 1 ? offset : 0;
}
TARN_HD constexpr bool adds(int molecule, int offset, int molecules) {
  return molecule >= 0 && molecule + offset < molecules;
}

// --- block and tiles -----------------------------------------------------------------------------

/// Threads of a block along the molecules: whole warps.
TARN_HD constexpr int block_threads(int molecules) {
  return (molecules + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
}
/// Slices divide the pairs of a molecule among threads. Their number is a function of N only, so
/// that sums have one order. The block path uses at most twelve warps: with more, threads have too
/// few registers.
inline constexpr int kBlockWarps = 12;
TARN_HD constexpr int block_slices(int molecules) {
  return kBlockWarps / (block_threads(molecules) / kWarpLanes);
}
/// Thread rows per block: one per slice; or a single row that computes all slices, if the clusters
/// fill the device twice with one row each, because further rows wait while the first one ends a
/// step. The results do not depend on it.
constexpr int block_rows(int molecules, std::int64_t replicas, int multiprocessors) {
  const std::int64_t warps = replicas * block_threads(molecules) / kWarpLanes;
  return warps < std::int64_t{2} * kBlockWarps * multiprocessors ? block_slices(molecules) : 1;
}
inline constexpr int kTile = 64;  ///< molecules per tile of an observation
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
/// In 32 bits, where GPUs divide five times as fast; there are at most 64 slices.
TARN_HD constexpr Range slice_range(int slice, int slices, int molecules) {
  const auto end = [&](int k) {
    return static_cast<int>(static_cast<unsigned>(molecules) * static_cast<unsigned>(k) /
                            static_cast<unsigned>(slices));
  };
  return {end(slice), end(slice + 1)};
}

/// The work of a block of an observation: pairs of the molecules of a tile with those of a slice.
struct PairTile {
  std::int64_t replica;
  int tile, slice;
};
TARN_HD constexpr int pair_tiles(int molecules, int slices) {
  return tiles_for(molecules) * slices;
}
TARN_HD constexpr int observed_tiles(int molecules) {
  return pair_tiles(molecules, observed_slices(molecules));
}
TARN_HD constexpr PairTile pair_tile(std::int64_t block, int molecules, int slices) {
  const int tiles = tiles_for(molecules);
  const std::int64_t replica = block / tiles / slices;
  return {replica, static_cast<int>(block % tiles), static_cast<int>(block / tiles % slices)};
}

// --- pairs of the block and the tile path --------------------------------------------------------

/// A strip has up to 32 molecules, those of a warp. All strips of a cluster have the same even
/// number M of molecules; the last one may have fewer. In turn t, lane l < M of a strip forms a
/// pair with partner l + t (modulo M) of another strip or of its own.
inline constexpr int kStrip = kWarpLanes;
TARN_HD constexpr int strips_for(int molecules) { return (molecules + kStrip - 1) / kStrip; }
TARN_HD constexpr int strip_size(int molecules) {
  const int halves = 2 * strips_for(molecules);
  return 2 * ((molecules + halves - 1) / halves);
}
/// Molecule of a thread, with 32 threads per strip; -1 if it has none.
TARN_HD constexpr int molecule_of_thread(int thread, int molecules) {
  const int size = strip_size(molecules), lane = thread % kStrip;
  const int molecule = thread / kStrip * size + lane;
  return lane < size && molecule < molecules ? molecule : -1;
}
/// @param lane below M
TARN_HD constexpr int partner_of_turn(int lane, int turn, int size) {
  return lane + turn < size ? lane + turn : lane + turn - size;
}
/// The lane that had the same partner one turn before; it passes on the force on that partner.
TARN_HD constexpr int next_lane(int lane, int size) {
  return lane + 1 < size ? lane + 1 : lane < size ? 0 : lane;
}

/// Rounds of the pairs among up to T = 4 strips in shared memory: each pair occurs once, and all
/// strips have the same number of turns. In round 0 a strip is paired with itself, in turns
/// 1 .. M/2. In round k = 1 .. T/2 strip s is paired with strip s + k (modulo T): in all M turns,
/// or if 2k = T in half of them, 0 .. M/2 - 1 for one of the two strips and 1 .. M/2 for the other.
struct StripMeeting {
  int partner;
  Range turns;
};
TARN_HD constexpr int turns_of_strip(int strips, int size) { return size / 2 * strips; }
/// @param all the range of turns to compute, counted over all rounds
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
/// Pairs of a lane count in turns before this one. In turn M/2 of a strip with itself both lanes of
/// a pair would compute it; only the first half of the lanes does.
TARN_HD constexpr int turns_to_meet(int lane, int round, int size) {
  return round > 0 || lane < size / 2 ? size : size / 2;
}

/// A band has up to four strips, one thread per molecule. The bands of a cluster are paired in
/// rounds, too: in round k = 1 .. B/2 band b is paired with the strips of band b + k (modulo B),
/// one after another; if 2k = B, only for the first half of the bands. In round 0 its own strips
/// are paired with each other.
inline constexpr int kBandStrips = 4;
inline constexpr int kBand = kBandStrips * kStrip;
TARN_HD constexpr int bands_for(int molecules) { return (molecules + kBand - 1) / kBand; }
/// Molecules per band; the last band may have fewer.
TARN_HD constexpr int band_size(int molecules) { return kBandStrips * strip_size(molecules); }
/// Strips of a band that have molecules.
TARN_HD constexpr int strips_of_band(int band, int molecules) {
  const int strips = strips_for(molecules) - band * kBandStrips;
  return strips < kBandStrips ? strips : kBandStrips;
}
/// With few bands the turns with a strip are divided between two blocks, to fill the device.
TARN_HD constexpr int strip_parts(int molecules) {
  return molecules > kBand && molecules <= 1024 ? 2 : 1;
}
/// The work of a band is divided into pieces: parts of round 0, and the pairs with strips of other
/// bands. The pieces are divided into slices, one per block: enough to fill a device with a cluster
/// of 1000 molecules, and no more, because each slice adds a partial sum in memory.
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
/// Rows of partial forces in memory, in the order in which they are added: one per slice of the
/// molecule's band, then those of the bands that are paired with it.
TARN_HD constexpr int force_rows(int molecules) {
  return force_slices(molecules) + rounds(bands_for(molecules)) * strip_parts(molecules);
}
/// Whether a row has partial forces on the molecules of a band.
TARN_HD constexpr bool has_row(int row, int band, int molecules) {
  const int bands = bands_for(molecules), slices = force_slices(molecules);
  if (row < slices) return true;
  const int round = 1 + (row - slices) / strip_parts(molecules);
  return meets(band >= round ? band - round : band - round + bands, round, bands);
}

/// The work of a block of pairs_kernel.
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
/// Whether there are at most three pair blocks per multiprocessor.
constexpr bool few_pair_blocks(int molecules, std::int64_t replicas, int multiprocessors) {
  return replicas * pair_blocks(molecules) <= std::int64_t{3} * multiprocessors;
}
struct PairWork {
  Range own_turns;  ///< among the strips of the band; see strip_meeting()
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
  int first,
      count;  ///< molecules of the strip; none if it does not exist or has no pairs with the band
  Range turns;
  int row;  ///< of the forces on the strip
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

/// The work of a block of step_kernel: some molecules of one replica.
struct MoleculeChunk {
  std::int64_t replica;
  int first;
};
inline constexpr int kChunk = kWarpLanes;  ///< molecules per chunk; the last chunk may have fewer
TARN_HD constexpr int molecule_chunks(int molecules) { return (molecules + kChunk - 1) / kChunk; }
/// Parts of the sum of a molecule's partial forces. Each has its own thread row; or one row
/// computes all parts, if the chunks fill the device. The results do not depend on it.
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
/// Threads per replica for the corrections: a power of two, for sums by halving.
constexpr int correcting_threads(int molecules) {
  int threads = kWarpLanes;
  while (threads < molecules && threads < kMostCorrecting) threads *= 2;
  return threads;
}

// --- memory --------------------------------------------------------------------------------------

/// Slots of a coordinate array: one per molecule, on the warp path one per lane. Each mode of a
/// ring polymer has the slots of a replica.
constexpr std::int64_t slots_for(Path path, std::int64_t replicas, int molecules) {
  return path == Path::warp ? warps_for(replicas, molecules) * kWarpLanes : replicas * molecules;
}
/// Slot of a molecule; its coordinate c is element c * slots + slot.
/// @param per_warp clusters_per_warp() on the warp path, 0 on the others
/// @param adjacent see DeviceState
template <class Number>
TARN_HD constexpr Number slot_of(Number replica, int molecule, int molecules, int per_warp,
                                 int adjacent = 1) {
  if (per_warp == 0) {
    return (replica / adjacent * molecules + molecule) * adjacent + replica % adjacent;
  }
  return replica / per_warp * kWarpLanes + replica % per_warp * cluster_lanes(molecules) + molecule;
}

// --- dense solves --------------------------------------------------------------------------------

/// Rows of a matrix: of one molecule, or of all.
TARN_HD constexpr int dense_size(int molecules, bool total) { return total ? 9 * molecules : 9; }
/// Matrices per call of cuSOLVER's batched functions: the limit of a grid coordinate; larger
/// batches are not documented to work.
inline constexpr std::int64_t kMostInBatch = 65535;
/// Index of an element in column-major order.
TARN_HD constexpr std::int64_t dense_element(int row, int column, int size) {
  return static_cast<std::int64_t>(column) * size + row;
}
/// Distance between consecutive matrices or right-hand sides: an even number, so that all have the
/// same alignment for loads of two doubles, and a replica in a batch gives the same bits as alone.
TARN_HD constexpr std::int64_t dense_stride(std::int64_t elements) {
  return elements + elements % 2;
}
/// Number of elements of the right-hand sides, and where that of a molecule begins.
constexpr std::int64_t dense_rights(std::int64_t slots, int molecules, bool total) {
  return total ? slots / molecules * dense_stride(dense_size(molecules, true))
               : slots * dense_stride(dense_size(molecules, false));
}
TARN_HD constexpr std::int64_t dense_right(std::int64_t slot, int molecules, bool total) {
  if (!total) return slot * dense_stride(dense_size(molecules, false));
  const std::int64_t replica = slot / molecules;
  return replica * dense_stride(dense_size(molecules, true)) + 9 * (slot - replica * molecules);
}
/// The work of a thread: atom a of molecule k and atom b of molecule l; only l < k is computed.
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
