#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "src/cpu/layout.hpp"

/// @file
/// How the CPU engine deals a large cluster out to threads.

namespace tarn::cpu {
namespace {

TEST(LargeClusters, EachPairOfBlocksIsOneTaskAndNoBlockIsEmpty) {
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
TEST(SmallClusters, RunAloneWhereThatIsFaster) {
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

}  // namespace
}  // namespace tarn::cpu
