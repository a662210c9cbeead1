#include "interface/moments.hpp"

#include "tarn/analysis/errors.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Rows {
  std::vector<std::int64_t> ids;
  std::vector<double> values;  // [replica][number]
};
Rows random_rows(int replicas, int numbers, std::int64_t first_id) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(-60.0, 2.0);
  Rows rows;
  for (int r = 0; r < replicas; ++r) {
    rows.ids.push_back(first_id + r + r / 3);
    for (int k = 0; k < numbers; ++k) rows.values.push_back(normal(random));
  }
  return rows;
}
GroupMoments moments_of(const Rows& rows, int numbers, int n_groups, int threads = 1,
                        bool unknown_is_left_out = false) {
  ReplicaGroups groups(n_groups);
  groups.sort(rows.ids);
  GroupMoments moments;
  make_moments(rows.values, numbers, groups, unknown_is_left_out, threads, moments);
  return moments;
}

TEST(GroupMoments, AreThePlainSums) {
  for (const int numbers : {1, 2, 12, 17, 40}) {
    for (const int n_groups : {1, 3, 32}) {
      const Rows rows = random_rows(200, numbers, 5);
      const GroupMoments m = moments_of(rows, numbers, n_groups);
      ASSERT_EQ(m.groups, n_groups);
      ASSERT_EQ(m.numbers, numbers);
      for (int g = 0; g < n_groups; ++g) {
        for (int k = 0; k < numbers; ++k) {
          const auto at = static_cast<std::size_t>(g * numbers + k);
          std::int64_t count = 0;
          double sum = 0.0, square = 0.0, product = 0.0, of_last = kNan;
          for (std::size_t r = 0; r < rows.ids.size(); ++r) {
            if (rows.ids[r] % n_groups != g) continue;
            const double* const row = &rows.values[r * static_cast<std::size_t>(numbers)];
            if (count++ == 0) {
              EXPECT_EQ(m.pivots[at], row[k]) << "the replica with the lowest id";
              of_last = row[numbers - 1];
            }
            const double off = row[k] - m.pivots[at];
            sum += off;
            square += off * off;
            product += off * (row[numbers - 1] - of_last);
          }
          EXPECT_EQ(m.counts[at], count);
          // 200 terms of some 10, and of 100.
          EXPECT_NEAR(m.sums[at], sum, test::few_roundings(2e3));
          EXPECT_NEAR(m.squares[at], square, test::few_roundings(2e4));
          if (k == numbers - 2) {
            EXPECT_NEAR(m.products[static_cast<std::size_t>(g)], product, test::few_roundings(2e4));
          }
        }
      }
    }
  }
}

TEST(GroupMoments, DependOnNoThreadAndNoOtherGroup) {
  const int numbers = 12, n_groups = 4;
  const Rows rows = random_rows(5000, numbers, 0);
  const GroupMoments one = moments_of(rows, numbers, n_groups, 1);
  const GroupMoments many = moments_of(rows, numbers, n_groups, 3);
  EXPECT_EQ(one.sums, many.sums);
  EXPECT_EQ(one.squares, many.squares);
  EXPECT_EQ(one.products, many.products);
  // The replicas of one group alone.
  Rows alone;
  for (std::size_t r = 0; r < rows.ids.size(); ++r) {
    if (rows.ids[r] % n_groups != 2) continue;
    alone.ids.push_back(rows.ids[r]);
    const auto row = rows.values.begin() + static_cast<std::ptrdiff_t>(r * numbers);
    alone.values.insert(alone.values.end(), row, row + numbers);
  }
  const GroupMoments two = moments_of(alone, numbers, n_groups);
  for (std::size_t k = 0; k < numbers; ++k) {
    EXPECT_EQ(two.counts[k], 0);
    EXPECT_EQ(two.sums[2 * numbers + k], one.sums[2 * numbers + k]);
    EXPECT_EQ(two.squares[2 * numbers + k], one.squares[2 * numbers + k]);
  }
}

TEST(GroupMoments, ExcludeUnknownValuesIfRequested) {
  Rows rows{{0, 1, 2}, {kNan, 1.0, 3.0, kNan, 5.0, 6.0}};
  const GroupMoments left_out = moments_of(rows, 2, 1, 1, true);
  EXPECT_EQ(left_out.counts, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(left_out.pivots, (std::vector<double>{3.0, 1.0}));
  EXPECT_EQ(left_out.sums, (std::vector<double>{2.0, 5.0}));
  const GroupMoments all = moments_of(rows, 2, 1);
  EXPECT_EQ(all.counts, (std::vector<std::int64_t>{3, 3}));
  EXPECT_TRUE(std::isnan(all.sums[0]) && std::isnan(all.sums[1]));
}

TEST(Moments, OfPartsAddUp) {
  const std::vector<double> values{1.0, 4.0, -2.0, 7.0, 7.5};
  analysis::Moments all;
  for (std::size_t begin : {0, 2}) {
    analysis::Moments part{0.0, begin == 0 ? 1.0 : -2.0, 0.0, 0.0};
    for (std::size_t i = begin; i < (begin == 0 ? 2 : values.size()); ++i) {
      part.count += 1.0;
      part.sum += values[i] - part.pivot;
      part.square += (values[i] - part.pivot) * (values[i] - part.pivot);
    }
    all.add(part);
    all.add(analysis::Moments{});  // nothing
  }
  const analysis::MeanError expected = analysis::mean_and_error(values);
  const analysis::MeanError result = mean_and_error(all);
  EXPECT_NEAR(result.mean, expected.mean, test::few_roundings(10.0));
  EXPECT_NEAR(result.error, expected.error, test::few_roundings(10.0));
  EXPECT_EQ(mean_and_error(analysis::Moments{1.0, 3.0, 0.0, 0.0}).error, 0.0);
}

}  // namespace
}  // namespace tarn
