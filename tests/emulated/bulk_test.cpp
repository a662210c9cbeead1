#include "kernels/bulk_calls.hpp"
#include "kernels/layout.hpp"
#include "testing.hpp"

namespace tarn::gpu {
namespace {

TEST(Bulk, CopiesMoleculesToTheirSlots) {
  for (const int n : {1, 7, 31, 33, 257}) {
    for (const int numbers : {1, 9}) {
      for (const bool fill_with_first : {false, true}) {
        const std::int64_t replicas = 5;
        const Path path = path_of(n);
        const int per_warp = path == Path::warp ? clusters_per_warp(n) : 0;
        const bulk::Slots slots{
            slots_for(path, replicas, n), replicas, n, per_warp, 1, numbers, fill_with_first};
        std::vector<double> from;
        for (std::int64_t i = 0; i < replicas * n * numbers; ++i) {
          from.push_back(1.0 + static_cast<double>(i));
        }
        std::vector<double> to(static_cast<std::size_t>(slots.slots * numbers), -1.0);
        std::vector<double> expected(to);
        for (std::size_t i = 0; i < to.size(); ++i) {
          const auto number = i / static_cast<std::size_t>(slots.slots);
          expected[i] = fill_with_first ? from[number] : 0.0;
        }
        for (std::int64_t r = 0; r < replicas; ++r) {
          for (int m = 0; m < n; ++m) {
            for (int k = 0; k < numbers; ++k) {
              expected[static_cast<std::size_t>(k * slots.slots + slot_of(r, m, n, per_warp))] =
                  from[static_cast<std::size_t>((r * n + m) * numbers + k)];
            }
          }
        }
        bulk::copy_to_slots(nullptr, from.data(), slots, to.data());
        EXPECT_EQ(to, expected) << n << " molecules, " << numbers << " numbers";
      }
    }
  }
}

TEST(Bulk, CountsTheStepsOfReplicas) {
  const std::vector<int> stopped{0, 1, 0, 1};
  const std::vector<long long> stopped_at{99, 12, 99, 10};
  EXPECT_EQ(bulk::replica_steps(nullptr, stopped.data(), stopped_at.data(), 4, 10, 30),
            20 + 2 + 20 + 0);
  EXPECT_EQ(bulk::replica_steps(nullptr, stopped.data(), stopped_at.data(), 0, 10, 30), 0);
  std::vector<double> numbers(5, 0.0);
  bulk::fill(nullptr, numbers.data(), 4, 2.5);
  EXPECT_EQ(numbers, (std::vector<double>{2.5, 2.5, 2.5, 2.5, 0.0}));
}

}  // namespace
}  // namespace tarn::gpu
