#include "counting.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/layout.hpp"
#include "physics/pair_force.hpp"
#include "src/cpu/layout.hpp"
#include "tarn/deck.hpp"
#include "testing.hpp"

/// @file
/// Who works on what on a GPU: the plain functions that kernels compute their places with. And how
/// the CPU engine deals a large cluster out to threads, and what is told where there is no device.

namespace tarn {
namespace {

using namespace gpu;
using namespace cpu;

TEST(GpuLayout, ThePathDependsOnTheMoleculesOnly) {
  EXPECT_EQ(path_of(1), Path::warp);
  EXPECT_EQ(path_of(32), Path::warp);
  EXPECT_EQ(path_of(33), Path::block);
  EXPECT_EQ(path_of(128), Path::block);
  EXPECT_EQ(path_of(129), Path::tiles);
  EXPECT_EQ(path_of(1, true), Path::tiles);
  EXPECT_EQ(path_of(1, true, 4), Path::ring_memory);
  // The sums of a correction halve; few molecules do not take many threads.
  for (int n : {1, 31, 32, 33, 64, 129, 256, 257, 10'000}) {
    const int threads = correcting_threads(n);
    EXPECT_TRUE(is_power_of_two(threads)) << n;
    EXPECT_GE(threads, std::min(n, kMostCorrecting)) << n;
    EXPECT_LT(threads, std::max(2 * n, kWarpLanes + 1)) << n;
    EXPECT_LE(threads, kMostCorrecting) << n;
  }
}

/// Blocks of molecules and couplings cover the lower half of the matrix once, below the diagonal of
/// no block twice.
TEST(GpuLayout, MoleculesAndCouplingsCoverTheLowerHalf) {
  for (int n : {1, 2, 5}) {
    const int size = dense_size(n, true);
    EXPECT_EQ(size, 9 * n);
    std::set<std::int64_t> seen;
    for (int k = 0; k < n; ++k) {
      for (int row = 0; row < 9; ++row) {
        for (int column = 0; column <= row; ++column) {
          EXPECT_TRUE(seen.insert(dense_element(9 * k + row, 9 * k + column, size)).second);
        }
      }
    }
    for (std::int64_t thread = 0; thread < dense_couplings(n); ++thread) {
      const DenseCoupling c = dense_coupling(thread, n);
      if (c.l >= c.k) continue;
      const std::int64_t corner = dense_element(9 * c.k + 3 * c.a, 9 * c.l + 3 * c.b, size);
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
          EXPECT_TRUE(seen.insert(corner + dense_element(row, column, size)).second);
        }
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(size * (size + 1) / 2));
    EXPECT_LT(*seen.rbegin(), static_cast<std::int64_t>(size) * size);
  }
  EXPECT_EQ(dense_size(5, false), 9);
}

/// Right-hand sides of a batch do not overlap, and each system begins at 16 bytes.
TEST(GpuLayout, RightHandSidesLieAlike) {
  for (bool total : {false, true}) {
    for (int n : {1, 2, 7}) {
      std::set<std::int64_t> seen;
      const std::int64_t slots = 5 * n;
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const std::int64_t first = dense_right(slot, n, total);
        if (!total || slot % n == 0) {
          EXPECT_EQ(first % 2, 0) << n;
        } else {
          EXPECT_EQ(first, dense_right(slot - 1, n, total) + 9) << n;
        }
        for (int k = 0; k < 9; ++k) EXPECT_TRUE(seen.insert(first + k).second) << n;
      }
      EXPECT_LT(*seen.rbegin(), dense_rights(slots, n, total));
    }
  }
  EXPECT_EQ(dense_stride(81), 82);
}

/// As many clusters as fit, and the sum over one takes every molecule once.
TEST(GpuLayout, WarpsAreFull) {
  for (int n = 1; n <= kMostInWarp; ++n) {
    EXPECT_EQ(clusters_per_warp(n), kWarpLanes / n);
    std::vector<std::set<int>> holds;
    for (int i = 0; i < n; ++i) holds.push_back({i});
    for (int o = first_offset(n); o > 0; o /= 2) {
      const auto before = holds;
      for (int i = 0; i < n; ++i) {
        if (!adds(i, o, n)) continue;
        for (const int other : before.at(static_cast<std::size_t>(i + o))) {
          EXPECT_TRUE(holds[static_cast<std::size_t>(i)].insert(other).second);
        }
      }
    }
    EXPECT_EQ(holds[0].size(), static_cast<std::size_t>(n));
    EXPECT_FALSE(adds(-1, 1, n));
    const int lanes = cluster_lanes(n);
    EXPECT_GE(lanes, n);
    EXPECT_LE(lanes * clusters_per_warp(n), kWarpLanes);
    EXPECT_TRUE(!is_power_of_two(lanes) || first_offset(n) == lanes / 2) << n;
  }
}

/// Every molecule has one lane, and the lane knows it.
TEST(GpuLayout, PlacesAndSlotsAreInverse) {
  for (int n = 1; n <= kMostInWarp; ++n) {
    for (std::int64_t replicas : {1, 2, 5, 33}) {
      std::set<std::pair<std::int64_t, int>> seen;
      for (std::int64_t warp = 0; warp < warps_for(replicas, n); ++warp) {
        for (int lane = 0; lane < kWarpLanes; ++lane) {
          const LanePlace p = place_of(warp, lane, n, replicas);
          if (p.molecule < 0) continue;
          EXPECT_TRUE(seen.emplace(p.replica, p.molecule).second);
          EXPECT_EQ(slot_of(p.replica, p.molecule, n, clusters_per_warp(n)),
                    warp * kWarpLanes + lane);
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(replicas * n));
      EXPECT_EQ(slots_for(Path::warp, replicas, n), warps_for(replicas, n) * kWarpLanes);
    }
  }
  EXPECT_EQ(slots_for(Path::block, 3, 100), 300);
  EXPECT_EQ(slot_of(2, 99, 100, 0), 299);
  // Mode 2 of the second ring polymer of four beads and three molecules.
  EXPECT_EQ(slot_of(6, 1, 3, 0, 4), (1 * 3 + 1) * 4 + 2);
}

/// Each pair of a cluster meets in one round, from one side, and what one lane sends back arrives.
TEST(GpuLayout, EveryPairMeetsOnce) {
  EXPECT_EQ(partner_lane(31, -1, 1, 7), 31);
  EXPECT_EQ(meeting_lane(31, -1, 1, 7), 31);
  EXPECT_FALSE(meets(-1, 1, 7));
  for (int n = 1; n <= kMostInWarp; ++n) {
    for (int first = 0; first + n <= kWarpLanes; first += n) {
      std::set<std::pair<int, int>> met;
      for (int k = 1; k <= rounds(n); ++k) {
        for (int molecule = 0; molecule < n; ++molecule) {
          const int lane = first + molecule;
          const int other = partner_lane(lane, molecule, k, n) - first;
          EXPECT_GE(other, 0);
          EXPECT_LT(other, n);
          EXPECT_EQ(meeting_lane(first + other, other, k, n), lane);
          if (!meets(molecule, k, n)) continue;
          EXPECT_NE(other, molecule);
          EXPECT_TRUE(met.emplace(std::min(molecule, other), std::max(molecule, other)).second)
              << n << ": " << molecule << ", " << other;
        }
      }
      EXPECT_EQ(met.size(), static_cast<std::size_t>(n * (n - 1) / 2));
    }
  }
}

TEST(GpuLayout, SlicesCoverAllPartnersOnce) {
  for (int n : {33, 100, 128, 129, 257, 1000, 10000}) {
    for (int slices : {3, observed_slices(n), force_slices(n)}) {
      int next = 0;
      for (int s = 0; s < slices; ++s) {
        const Range r = slice_range(s, slices, n);
        EXPECT_EQ(r.first, next);
        EXPECT_GE(r.last, r.first);
        next = r.last;
      }
      EXPECT_EQ(next, n);
    }
    EXPECT_GE(tiles_for(n) * kTile, n);
    EXPECT_LT((tiles_for(n) - 1) * kTile, n);
  }
  // Every (replica, slice, tile) of an observation has a block.
  for (int n : {7, 129}) {
    const int slices = observed_slices(n);
    std::set<std::tuple<std::int64_t, int, int>> seen;
    for (std::int64_t block = 0; block < 3 * pair_tiles(n, slices); ++block) {
      const PairTile p = pair_tile(block, n, slices);
      EXPECT_LT(p.replica, 3);
      EXPECT_LT(p.tile, tiles_for(n));
      EXPECT_LT(p.slice, slices);
      EXPECT_TRUE(seen.emplace(p.replica, p.tile, p.slice).second);
    }
  }
  EXPECT_EQ(observed_slices(7), 1);
  EXPECT_EQ(observed_slices(10000), 64);
  EXPECT_EQ(block_threads(33), 64);
  EXPECT_EQ(block_threads(128), 128);
  for (int n = kMostInWarp + 1; n <= kMostInBlock; ++n) {
    EXPECT_LE(block_threads(n) * block_slices(n), kBlockWarps * kWarpLanes);
    // A barrier each, of which a block has fifteen beside its own.
    EXPECT_LE(block_slices(n), 15);
  }
  EXPECT_EQ(block_slices(64), 6);
  EXPECT_EQ(block_slices(128), 3);
  EXPECT_EQ(block_rows(128, 1, 132), 3);
  EXPECT_EQ(block_rows(128, 791, 132), 3);
  EXPECT_EQ(block_rows(128, 792, 132), 1);
  EXPECT_EQ(block_rows(64, 1583, 132), 6);
  EXPECT_EQ(block_rows(64, 1584, 132), 1);
}

/// Pairs of molecules of a cluster, each of which is to be met once.
class MetPairs {
 public:
  explicit MetPairs(int molecules)
      : molecules_(molecules), met_(static_cast<std::size_t>(molecules) * molecules, 0) {}
  void meet(int i, int j) {
    EXPECT_NE(i, j);
    ++met_[static_cast<std::size_t>(std::min(i, j)) * molecules_ + std::max(i, j)];
  }
  /// Turns of strip `strip` of those that begin with molecule `first`, as add_meetings has them.
  void meet_strips(int first, int strip, int strips, const Range& turns) {
    const int size = strip_size(molecules_);
    for (int round = 0; round <= rounds(strips); ++round) {
      const StripMeeting with = strip_meeting(strip, round, strips, size, turns);
      ASSERT_LT(with.partner, strips);
      for (int turn = with.turns.first; turn < with.turns.last; ++turn) {
        for (int lane = 0; lane < size; ++lane) {
          const int i = size * strip + lane;
          const int j = size * with.partner + partner_of_turn(lane, turn, size);
          if (turn >= turns_to_meet(lane, round, size) || first + std::max(i, j) >= molecules_)
            continue;
          meet(first + i, first + j);
        }
      }
    }
  }
  void expect_each_once() const {
    for (int i = 0; i < molecules_; ++i) {
      for (int j = i + 1; j < molecules_; ++j) {
        ASSERT_EQ(met_[static_cast<std::size_t>(i) * molecules_ + j], 1)
            << molecules_ << ": " << i << ", " << j;
      }
    }
  }

 private:
  int molecules_;
  std::vector<int> met_;
};

/// Each molecule has a thread, strips are full but for the last one, and what a partner feels is
/// handed over by who met it before, also on its way to memory.
TEST(GpuLayout, StripsAreEven) {
  for (int n = 1; n <= 1100; ++n) {
    const int strips = strips_for(n), size = strip_size(n);
    EXPECT_EQ(size % 2, 0);
    EXPECT_LE(size, kStrip);
    EXPECT_LT((strips - 1) * size, n);
    EXPECT_GE(strips * size, n);
    int next = 0;
    for (int thread = 0; thread < kStrip * strips; ++thread) {
      const int molecule = molecule_of_thread(thread, n);
      if (molecule < 0) continue;
      EXPECT_EQ(molecule, next++);
    }
    EXPECT_EQ(next, n);
  }
  EXPECT_EQ(strip_size(100), 26);
  EXPECT_EQ(strip_size(1000), 32);
  for (int size = 2; size <= kStrip; size += 2) {
    for (int lane = size; lane < kStrip; ++lane) EXPECT_EQ(next_lane(lane, size), lane);
    for (int lane = 0; lane < size; ++lane) {
      for (int turn = 0; turn < size; ++turn) {
        EXPECT_EQ(partner_of_turn(lane, turn, size), (lane + turn) % size);
        EXPECT_EQ(partner_of_turn(next_lane(lane, size), turn, size),
                  partner_of_turn(lane, turn + 1, size));
      }
    }
  }
}

TEST(GpuLayout, StripsMeetOnce) {
  for (int n : {1, 2, 31, 32, 33, 64, 65, 96, 100, 127, 128}) {
    for (int slices : {1, block_slices(n), 7}) {
      MetPairs met(n);
      const int strips = strips_for(n), size = strip_size(n);
      for (int slice = 0; slice < slices; ++slice) {
        const Range turns = slice_range(slice, slices, turns_of_strip(strips, size));
        for (int strip = 0; strip < strips; ++strip) {
          met.meet_strips(0, strip, strips, turns);
          // All strips have a meeting in the same rounds, as add_meetings takes for granted.
          for (int round = 0; round <= rounds(strips); ++round) {
            const Range a = strip_meeting(0, round, strips, size, turns).turns;
            const Range b = strip_meeting(strip, round, strips, size, turns).turns;
            EXPECT_EQ(b.last - b.first, a.last - a.first);
          }
        }
      }
      met.expect_each_once();
    }
  }
}

/// And every sum on a strip has a row of its own, which those who add the rows know of.
TEST(GpuLayout, BandsMeetOnce) {
  for (int n :
       {1, 33, 128, 129, 200, 256, 257, 400, 512, 600, 1000, 1024, 1025, 1100, 2048, 2500}) {
    MetPairs met(n);
    const int bands = bands_for(n), size = strip_size(n);
    std::set<std::pair<int, int>> rows;  // row, molecule
    std::set<std::tuple<std::int64_t, int, int>> blocks;
    for (std::int64_t number = 0; number < 2 * pair_blocks(n); ++number) {
      const PairBlock block = pair_block(number, n);
      EXPECT_LT(block.replica, 2);
      EXPECT_TRUE(blocks.emplace(block.replica, block.band, block.slice).second);
      if (block.replica > 0) continue;
      const int begin = block.band * band_size(n), strips = strips_of_band(block.band, n);
      const int end = std::min(begin + size * strips, n);
      for (int i = begin; i < end; ++i) {
        EXPECT_TRUE(rows.emplace(block.slice, i).second);
      }
      const PairWork work = pair_work(block.band, block.slice, n);
      for (int strip = 0; strip < strips; ++strip) {
        met.meet_strips(begin, strip, strips, work.own_turns);
      }
      for (int k = work.meetings.first; k < work.meetings.last; ++k) {
        const BandMeeting with = band_meeting(k, block.band, n);
        for (int j = 0; j < with.count; ++j) {
          EXPECT_TRUE(rows.emplace(with.row, with.first + j).second);
        }
        for (int turn = with.turns.first; turn < with.turns.last; ++turn) {
          for (int i = begin; i < end; ++i) {
            const int j = partner_of_turn((i - begin) % size, turn, size);
            if (j < with.count) met.meet(i, with.first + j);
          }
        }
      }
    }
    met.expect_each_once();
    for (int row = 0; row < force_rows(n); ++row) {
      for (int i = 0; i < n; ++i) {
        ASSERT_EQ(rows.erase({row, i}) == 1, has_row(row, i / band_size(n), n)) << n << ": " << row;
      }
    }
    EXPECT_TRUE(rows.empty());
    EXPECT_EQ(strips_of_band(bands - 1, n), strips_for(n) - kBandStrips * (bands - 1));
  }
  EXPECT_EQ(force_slices(7), 1);
  EXPECT_EQ(force_slices(200), 16);
  EXPECT_EQ(force_slices(10000), 40);
  EXPECT_EQ(force_rows(10000), 40 + 39);
}

/// Whatever a deck may ask for, the blocks of a kernel are fewer than a grid may have, 2^31 - 1,
/// and integers of 32 bits hold what is computed of a single replica.
TEST(GpuLayout, GridsHoldTheLargestDecks) {
  std::vector<int> sizes;
  for (int n = 1; n < kMaxMolecules; n += 1 + n / 64) sizes.push_back(n);
  sizes.push_back(kMaxMolecules);
  for (int n : sizes) {
    const std::int64_t replicas = std::min<std::int64_t>(kMaxReplicas, kMaxTotalMolecules / n);
    const std::int64_t observed = observed_slices(n), forces = force_slices(n);
    // Products that pair_tiles(), pair_blocks() and pairs_kernel take in 32 bits.
    constexpr std::int64_t largest = std::numeric_limits<int>::max();
    EXPECT_LE(tiles_for(n) * observed, largest) << n;
    EXPECT_LE(bands_for(n) * forces, largest) << n;
    EXPECT_LE(3 * std::int64_t{kBand} * bands_for(n) + kBand, largest) << n;
    for (std::int64_t blocks :
         {replicas * observed_tiles(n), replicas * pair_blocks(n), replicas * molecule_chunks(n),
          slots_for(path_of(n), replicas, n) / kWarpLanes + 1}) {
      EXPECT_LE(blocks, largest) << n;
    }
  }
  EXPECT_LE(dense_couplings(kMaxTotalHessianMolecules) / kWarpLanes,
            std::int64_t{std::numeric_limits<int>::max()});
}

TEST(GpuLayout, ChunksCoverAllMoleculesOnce) {
  for (int n : {1, 32, 129, 1000}) {
    std::set<std::pair<std::int64_t, int>> seen;
    for (std::int64_t block = 0; block < 3 * molecule_chunks(n); ++block) {
      const MoleculeChunk c = molecule_chunk(block, n);
      EXPECT_LT(c.first, n);
      for (int k = c.first; k < std::min(c.first + kChunk, n); ++k) {
        EXPECT_TRUE(seen.emplace(c.replica, k).second);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(3 * n));
  }
}

/// By hand: 32 lanes of one cluster a warp, 16 rounds; 128 molecules in 12 warps, 22 turns.
TEST(LaunchLength, IsThatOfAllInstructions) {
  const IssueRate one{1, 32, 1e9}, slow{2, 2, 1e9};
  EXPECT_DOUBLE_EQ(instructions_of_step(Path::warp, 32), 8000.0 + 16 * 270.0);
  EXPECT_DOUBLE_EQ(instructions_of_step(Path::block, 128, 3), 8000.0 + 22 * 270.0);
  EXPECT_DOUBLE_EQ(instructions_of_step(Path::block, 128), 8000.0 + 64 * 270.0);
  EXPECT_DOUBLE_EQ(cycles_of_step(Path::warp, 32, 8, one), 12320.0 * (50.0 + 6.25 * 8));
  EXPECT_DOUBLE_EQ(cycles_of_step(Path::warp, 16, 8, slow), 10160.0 * (50.0 + 16.0 * 4 / 2));
  EXPECT_DOUBLE_EQ(cycles_of_step(Path::block, 128, 3, slow), 13940.0 * (50.0 + 16.0 * 36 / 2));
}

/// On a GPU of a few lanes and on a large one: a launch is not longer than it may be, unless it is
/// one step, and never empty; half a second is not cut into more than some hundred parts by what
/// the large one does at its best.
TEST(LaunchLength, IsShortAndNotTooShort) {
  const IssueRate small{6, 2, 420e6}, large{132, 64, 1.98e9};
  for (const IssueRate& rate : {small, large}) {
    for (Path path : {Path::warp, Path::block}) {
      for (int n : {1, 7, 32, 33, 128}) {
        if (path_of(n) != path) continue;
        std::int64_t last = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t replicas : {0, 1, 100, 10'000, 1'000'000, 100'000'000}) {
          const std::int64_t steps = most_steps_in_launch(path, n, replicas, rate);
          EXPECT_GE(steps, 1);
          EXPECT_LE(steps, last) << "more replicas, more steps";
          last = steps;
          const double s = cycles_of_step(path, n, replicas, rate) / rate.clock_Hz;
          if (steps > 1) {
            EXPECT_LE(static_cast<double>(steps) * s, 0.5);
            EXPECT_GT(static_cast<double>(steps + 1) * s, 0.5 * (1.0 - 1e-9));
          }
        }
      }
    }
  }
  // The pairs alone, at the rate of all lanes.
  const double pairs = 200'000 * 21.0 * 145.0 / (132 * 64 * 1.98e9);
  const auto steps = static_cast<double>(most_steps_in_launch(Path::warp, 7, 200'000, large));
  EXPECT_GT(steps * pairs, 1e-3);
  EXPECT_GT(most_steps_in_launch(Path::warp, 7, 1, large), 1000);
}

// --- arithmetic of a pair ---

template <bool kMSite>
int counted() {
  using C = test::Counted<double>;
  const Vec3<C> v{C(1.0), C(2.0), C(3.0)};
  SiteForces<C> f_i{v, v, v, v}, f_j = f_i;
  const test::Operations o = test::count([&] {
    add_pair_forces<kMSite>(PairParameters<double>{}, v, SiteOffsets<C>{v, v, v},
                            SiteOffsets<C>{v, v, v}, AllLanes{}, f_i, f_j);
  });
  return o.add + o.multiply + o.fma + o.rsqrt;
}

/// By hand, and by a number that counts. Every pair of sites: a squared length of 3 instructions, a
/// reciprocal root, and 3 on the force of each side. A Coulomb force takes 3 more; that of the
/// oxygens y^2, y^6 (2), 12 A y^6 - 6 C, y^6 times that, and y^2 times it.
TEST(ArithmeticBound, CountsThePairAsByHand) {
  constexpr int kCommon = 3 + 1 + 6, kCoulomb = kCommon + 3, kOxygens = kCommon + 6;
  // Three sites: the charges of the oxygens are one more; vectors from O to H twice, H to O twice,
  // H to H four times.
  const int three = instructions_of_pair(false);
  EXPECT_EQ(three, kOxygens + 1 + 8 * kCoulomb + 3 * (2 + 2 + 4));
  EXPECT_EQ(three, counted<false>());
  // Four: one Coulomb force more; vectors from M to O, M to M, M to H twice, H to O twice, H to M
  // twice, H to H four times.
  const int four = instructions_of_pair(true);
  EXPECT_EQ(four, kOxygens + 9 * kCoulomb + 3 * (1 + 1 + 2 + 2 + 2 + 4));
  EXPECT_EQ(four, counted<true>());
}

/// A device of two multiprocessors, 4 lanes each and 10 cycles a second does 80 instructions.
TEST(ArithmeticBound, SharesAreOfLanesAndClock) {
  EXPECT_DOUBLE_EQ(bound_seconds(2.0, 20, 2, 4, 10.0), 0.5);
  EXPECT_EQ(lanes_of("9.0", true), 128);
  EXPECT_EQ(lanes_of("9.0", false), 64);
  for (const char* few : {"8.7", "10.3", "11.0", "12.1"}) EXPECT_EQ(lanes_of(few, false), 2) << few;
  EXPECT_EQ(lanes_of("1.0", true), 0);
  EXPECT_EQ(clock_Hz_of(1980000), 1.98e9);
  EXPECT_EQ(clock_Hz_of(0), 1e9);
}

// --- the CPU engine ---

TEST(CpuLargeClusters, EachPairOfBlocksIsOneTaskAndNoBlockIsEmpty) {
  for (const int lanes : {2, 4, 8, 16}) {
    for (int molecules = kSmallClusterMolecules + 1; molecules < 5000;
         molecules += molecules < 300 ? 1 : 61) {
      SCOPED_TRACE(testing::Message() << molecules << " molecules, " << lanes << " lanes");
      const int blocks = pair_blocks(molecules, lanes);
      const int full = molecules / lanes, each = (full + blocks - 1) / blocks;
      ASSERT_GE(blocks, 2);
      ASSERT_GE(useful_threads(molecules, blocks), 2);
      ASSERT_LE(useful_threads(molecules, blocks), block_tasks(molecules, blocks));
      ASSERT_LT((blocks - 1) * each, full);
      std::map<std::pair<int, int>, int> times;
      for (int k = 0; k < block_tasks(molecules, blocks); ++k) {
        const BlockTask task = block_task(k, molecules, blocks);
        ASSERT_LE(task.row, task.first_partner);
        ASSERT_LT(task.first_partner, task.last_partner);
        ASSERT_LE(task.last_partner, blocks);
        for (int partner = task.first_partner; partner < task.last_partner; ++partner) {
          ++times[{task.row, partner}];
        }
      }
      for (int row = 0; row < blocks; ++row) {
        for (int partner = row; partner < blocks; ++partner) {
          ASSERT_EQ((times[{row, partner}]), 1) << row << " " << partner;
        }
      }
      ASSERT_EQ(times.size(), static_cast<std::size_t>(blocks * (blocks + 1) / 2));
    }
  }
}

/// Where there are threads for all, each replica alone; else together, unless few are left over.
TEST(CpuSmallClusters, RunAloneWhereThatIsFaster) {
  EXPECT_TRUE(molecule_lanes_are_faster(7, 1, 8, 1));
  EXPECT_TRUE(molecule_lanes_are_faster(7, 5, 8, 1)) << "5 x 4/3 packs, and 7";
  EXPECT_FALSE(molecule_lanes_are_faster(7, 6, 8, 1));
  EXPECT_TRUE(molecule_lanes_are_faster(7, 16, 8, 4))
      << "4 x 4/3 packs a thread, and 7 for two of the threads";
  EXPECT_FALSE(molecule_lanes_are_faster(7, 24, 8, 4)) << "6 x 4/3 packs, and 7";
  EXPECT_FALSE(molecule_lanes_are_faster(7, 64, 8, 4));
  EXPECT_TRUE(molecule_lanes_are_faster(7, 64, 8, 16));
  EXPECT_TRUE(molecule_lanes_are_faster(32, 6, 8, 1));
  EXPECT_FALSE(molecule_lanes_are_faster(32, 7, 8, 1));
  EXPECT_FALSE(molecule_lanes_are_faster(7, 100'000'000, 8, 4)) << "too many for an int";
}

// --- messages: each cause has its own words and its own cure ---

TEST(ProbeMessage, IsOneLineThatNamesTheCauseAndTheCure) {
  std::set<std::string> seen;
  for (const auto& [status, words] : std::vector<std::pair<ProbeStatus, std::vector<std::string>>>{
           {ProbeStatus::ok, {}},
           {ProbeStatus::not_built, {"without CUDA", "toolkit 12 or newer", "-DTARN_CUDA=ON"}},
           {ProbeStatus::no_driver, {"no NVIDIA driver", "install", "CUDA 13.0"}},
           {ProbeStatus::driver_too_old, {"supports CUDA 11.8", "needs 13.0", "update the driver"}},
           {ProbeStatus::no_device, {"no device", "nvidia-smi", "CUDA_VISIBLE_DEVICES"}},
           {ProbeStatus::failed, {"words"}}}) {
    const std::string text = probe_message(status, "11.8", "13.0", "words");
    for (const std::string& word : words) EXPECT_TRUE(test::contains(text, word));
    EXPECT_TRUE(seen.insert(text).second) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(text.empty(), status == ProbeStatus::ok);
  }
}

}  // namespace
}  // namespace tarn
