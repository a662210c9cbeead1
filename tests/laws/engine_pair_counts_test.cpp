#include "engine_fixtures.hpp"

/// @file
/// Distances counted during advance() are those of the reported positions.

namespace tarn {
namespace {

using namespace test;

using Histogram = std::vector<std::uint64_t>;  ///< [group][pair class][bin]

/// Adds the distances between atoms of different molecules of every replica of a frame.
void count_naively(const PairCountRequest& request, const Frame& f, Histogram& counts,
                   std::vector<std::int64_t>& samples) {
  const std::size_t n = static_cast<std::size_t>(f.molecules);
  for (std::size_t r = 0; r < f.replica_ids.size(); ++r) {
    const std::size_t group = static_cast<std::size_t>(f.replica_ids[r] % request.groups);
    ++samples[group];
    for (std::size_t i = 0; i < 3 * n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (i / 3 == j / 3) continue;
        const int hydrogens = (i % 3 != 0) + (j % 3 != 0);
        if (!request.pairs[static_cast<std::size_t>(hydrogens)]) continue;
        double r2 = 0.0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double d =
              f.positions_A[9 * n * r + 3 * i + c] - f.positions_A[9 * n * r + 3 * j + c];
          r2 += d * d;
        }
        const int bin = static_cast<int>(std::sqrt(r2) / request.r_max_A * request.bins);
        if (bin >= request.bins) continue;
        ++counts[(group * kPairClasses + static_cast<std::size_t>(hydrogens)) *
                     static_cast<std::size_t>(request.bins) +
                 static_cast<std::size_t>(bin)];
      }
    }
  }
}

class EnginePairCounts : public ::testing::TestWithParam<std::string> {};

TEST_P(EnginePairCounts, MatchTheReportedPositions) {
  for (const std::string& set : different_instruction_sets()) {
    for (Precision precision : precisions_of(GetParam())) {
      for (int n : {1, 2, 7, 16, 17, 33, 70}) {
        if (n > most_molecules(GetParam())) continue;
        for (int pairs = 1; pairs < 8; pairs += n == 7 ? 1 : 6) {
          SCOPED_TRACE(set + ", " + name_of(precision) + ", N = " + std::to_string(n) + ", pairs " +
                       std::to_string(pairs));
          const System system = make_system({GetParam(), Bath::gla}, tip3p(), n, precision);
          const PairCountRequest request{
              .enabled = true,
              .pairs = {(pairs & 1) != 0, (pairs & 2) != 0, (pairs & 4) != 0},
              .r_max_A = 5.0,  // some distances lie beyond
              .bins = 37,
              .every = 3,
              .first_step = 1007,
              .groups = n % 2 == 0 ? 32 : 8};
          // Ids 3 and 35 share a group, and a batch of 19 straddles the packs.
          std::vector<std::int64_t> ids = spread_ids(n <= 64 ? 19 : 2);
          ids.back() = 35;
          const auto engine =
              make_cpu_engine(system, start_state(system, ids, 1000), request, 2, set);
          Frame f;
          Histogram expected(
              static_cast<std::size_t>(request.groups * kPairClasses * request.bins));
          std::vector<std::int64_t> samples(static_cast<std::size_t>(request.groups));
          for (int step = 1001; step <= 1015; ++step) {
            engine->advance(1);
            engine->snapshot(kPositions, f);
            if (step >= request.first_step && step % request.every == 0) {
              count_naively(request, f, expected, samples);
            }
          }
          engine->snapshot(kPairCounts, f);
          EXPECT_EQ(f.pair_counts, expected);
          EXPECT_EQ(f.pair_samples, samples);
          EXPECT_EQ(std::accumulate(samples.begin(), samples.end(), std::int64_t{0}),
                    3 * static_cast<std::int64_t>(ids.size()));  // steps 1008, 1011, 1014
          const std::uint64_t counted =
              std::accumulate(expected.begin(), expected.end(), std::uint64_t{0});
          EXPECT_EQ(counted > 0, n > 1);
        }
      }
    }
  }
}

/// Step 0 is counted once, however the steps are divided; a later start is not.
TEST_P(EnginePairCounts, IncludeStepZero) {
  for (const std::int64_t start : {0, 6}) {
    for (const int n : {2, 33}) {
      if (n > most_molecules(GetParam())) continue;
      const System system = make_system({GetParam(), Bath::gla}, tip3p(), n);
      const PairCountRequest request{.enabled = true, .every = 3, .groups = 8};
      const auto engine = make_cpu_engine(system, start_state(system, {1, 5}, start), request, 1);
      Histogram expected(static_cast<std::size_t>(request.groups * kPairClasses * request.bins));
      std::vector<std::int64_t> samples(static_cast<std::size_t>(request.groups));
      Frame f;
      for (const std::int64_t steps : {0, 3, 3}) {
        engine->advance(steps);
        engine->snapshot(kPositions, f);
        if (steps > 0 || start == 0) count_naively(request, f, expected, samples);
      }
      engine->snapshot(kPairCounts, f);
      EXPECT_EQ(f.pair_counts, expected);
      EXPECT_EQ(f.pair_samples, samples);
    }
  }
}

TEST_P(EnginePairCounts, AreEmptyUnlessRequested) {
  const System system = make_system({GetParam(), Bath::none}, tip3p(), 2);
  const auto engine = make_cpu_engine(system, start_state(system, {1}), {});
  engine->advance(20);
  Frame f;
  engine->snapshot(kPairCounts | kPositions, f);
  EXPECT_TRUE(std::all_of(f.pair_counts.begin(), f.pair_counts.end(),
                          [](std::uint64_t c) { return c == 0; }));
  EXPECT_EQ(f.pair_samples, std::vector<std::int64_t>(32));
  // As every field, they are empty in a snapshot that does not request them.
  engine->snapshot(kPositions, f);
  EXPECT_TRUE(f.pair_counts.empty() && f.pair_samples.empty());
}

INSTANTIATE_TEST_SUITE_P(All, EnginePairCounts, ::testing::ValuesIn(kSchemeNames),
                         [](const auto& scheme) { return scheme.param; });

}  // namespace
}  // namespace tarn
