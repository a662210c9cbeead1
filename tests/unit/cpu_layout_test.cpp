#include "src/cpu/layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

/// @file
/// How the CPU engine deals a large cluster out to threads.

namespace tarn::cpu {
namespace {

TEST(LargeClusters, EachPairOfBlocksIsOneTaskAndNoBlockIsEmpty) {
  for (const int lanes : {2, 4, 8, 16}) {
    for (int molecules = 33; molecules < 5000; molecules += molecules < 300 ? 1 : 61) {
      SCOPED_TRACE(testing::Message() << molecules << " molecules, " << lanes << " lanes");
      const int blocks = pair_blocks(molecules, lanes);
      const int full = molecules / lanes, each = (full + blocks - 1) / blocks;
      ASSERT_GE(blocks, 1);
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

}  // namespace
}  // namespace tarn::cpu
