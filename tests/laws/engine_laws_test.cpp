#include "engine_fixtures.hpp"
#include "steps/single.hpp"

/// @file
/// Bitwise reproducibility of the CPU engine: results do not depend on the division of a run, the
/// batch, the position in the batch, the number of threads, or the step of a restart.

namespace tarn {
namespace {

using namespace test;

/// Sizes on both sides of a pack (8), of the padding (16), of the two layouts (64), with half of
/// the molecules within a pack (20), and with both divisions into blocks.
const std::vector<int> kAllSizes{1, 2, 7, 16, 17, 20, 33, 64, 65, 100, 257};

/// The engine-specific parameters; the others are those of the test.
struct Variant {
  WaterModel model;
  Precision precision;
  std::string instruction_set;
};

constexpr PairCountRequest kCounts{.enabled = true, .r_max_A = 6.0, .bins = 60, .every = 4};

class EngineLaws : public ::testing::TestWithParam<EngineCase> {
 protected:
  /// Calls body(N) for each size, model, precision and instruction set.
  void for_variants(const std::vector<int>& sizes, const std::function<void(int)>& body) {
    for (const WaterModel& model : {tip3p(), tip4p()}) {
      for (Precision precision : precisions_of(GetParam())) {
        for (const std::string& set : different_instruction_sets()) {
          for (int n : sizes) {
            // The other instruction sets run the same code: half of the combinations suffice,
            // without the largest cluster.
            const bool widest = set == cpu_instruction_sets().front();
            if (n > most_molecules(GetParam().scheme)) continue;
            if (!widest && (n > 100 || model.has_m_site() == (precision == Precision::double_))) {
              continue;
            }
            variant_ = {model, precision, set};
            SCOPED_TRACE("N = " + std::to_string(n) + ", " + std::string(model.name) + ", " +
                         name_of(precision) + ", " + set);
            body(n);
            if (HasFailure()) return;
          }
        }
      }
    }
  }

  System system(int n) const {
    return make_system(GetParam(), variant_.model, n, variant_.precision);
  }
  /// Half of the variants tally heat.
  State start_state(const System& system, const std::vector<std::int64_t>& ids,
                    std::int64_t step = 0) const {
    const State s = test::start_state(system, ids, step);
    return variant_.model.has_m_site() ? tallied(s) : s;
  }
  std::unique_ptr<Engine> engine(const State& start, int threads = 1,
                                 const PairCountRequest& counts = {}) const {
    return make_cpu_engine(system(start.molecules), start, counts, threads,
                           variant_.instruction_set);
  }

  Variant variant_;
};

/// Enough steps to detect a violation; few for large clusters.
int steps_for(int n) { return n <= 2 ? 40 : n <= 33 ? 12 : 4; }

void expect_same_counts(const Frame& a, const Frame& b) {
  EXPECT_EQ(a.pair_counts, b.pair_counts);
  EXPECT_EQ(a.pair_samples, b.pair_samples);
}

/// The bits of `found` are among those of `expected`.
void expect_among(const std::map<std::int64_t, Bits>& found,
                  const std::map<std::int64_t, Bits>& expected, const std::string& how) {
  for (const auto& [id, bits] : found) {
    EXPECT_TRUE(same_bits(expected.at(id), bits)) << how << ", replica " << id;
  }
}

/// One trajectory, with which all others are compared: divided, resumed, in other batches and
/// orders, and with several threads.
TEST_P(EngineLaws, ATrajectoryIsTheSameHoweverItIsMade) {
  for_variants(sizes_for(GetParam().scheme, kAllSizes), [&](int n) {
    // Ids below 2^32 have different noise. Not from step 0, to test step numbers too.
    std::vector<std::int64_t> ids = spread_ids(n <= 64 ? 19 : 3);
    ids[1] = 4'000'000'123;
    const auto start = [&](const std::vector<std::int64_t>& some) {
      return start_state(system(n), some, 4'294'967'290);
    };
    const auto advanced = [&](const std::vector<std::int64_t>& some, int steps, int threads = 1) {
      auto e = engine(start(some), threads, kCounts);
      e->advance(steps);
      EXPECT_EQ(e->step(), start(some).step + steps);
      return e;
    };
    const auto counts = [](Engine& e) {
      Frame frame;
      e.snapshot(kPairCounts, frame);
      return frame;
    };
    const int steps = steps_for(n);
    const auto whole = advanced(ids, steps);
    ASSERT_TRUE(whole->blow_ups().empty());
    const auto expected = bits_by_replica(*whole);
    ASSERT_EQ(expected.size(), ids.size());
    const Frame expected_counts = counts(*whole);

    for (const int first : {1, steps / 2 + 1}) {
      SCOPED_TRACE("cut at " + std::to_string(first));
      const auto pieces = advanced(ids, first);
      Frame frame;
      pieces->snapshot(kPositions | kVelocities | kEnergies | kConservation | kPairCounts, frame);
      const auto resumed = engine(pieces->state(), 1, kCounts);
      EXPECT_EQ(resumed->step(), pieces->step());
      if (system(n).thermostat.kind != Thermostat::baoab) {
        EXPECT_TRUE(same_bits(bits_by_replica(*pieces), bits_by_replica(*resumed)))
            << "when resumed";
      }  // BAOAB takes temperatures in the middle of the last step, which a state does not hold.
      for (Engine* e : {pieces.get(), resumed.get()}) {
        e->advance(0);
        e->advance(steps - first);
        EXPECT_EQ(e->step(), whole->step());
        EXPECT_TRUE(same_bits(expected, bits_by_replica(*e))) << (e == pieces.get() ? "" : "new");
      }
      expect_same_counts(expected_counts, counts(*pieces));
      Frame rest = counts(*resumed);
      EXPECT_EQ(rest.time_ps, expected_counts.time_ps);
      for (std::size_t k = 0; k < rest.pair_counts.size(); ++k) {
        rest.pair_counts[k] += frame.pair_counts[k];
      }
      for (std::size_t k = 0; k < rest.pair_samples.size(); ++k) {
        rest.pair_samples[k] += frame.pair_samples[k];
      }
      expect_same_counts(expected_counts, rest);
    }

    // Six replicas of most small clusters run together with one thread and alone with more.
    const auto threads = covers_everything() ? std::vector{2, 3, 5} : std::vector{3};
    for (const int count : threads) {
      const std::string how = std::to_string(count) + " threads";
      const auto all = advanced(ids, steps, count);
      EXPECT_TRUE(same_bits(expected, bits_by_replica(*all))) << how;
      expect_same_counts(expected_counts, counts(*all));
      for (const int batch : n <= 64 ? std::vector{6} : std::vector{1, 2}) {
        const std::vector some(ids.begin() + 1, ids.begin() + 1 + batch);
        const auto few = advanced(some, steps, count);
        expect_among(bits_by_replica(*few), expected, how + ", few replicas");
        expect_same_counts(counts(*advanced(some, steps)), counts(*few));
      }
    }
    for (const int batch : n <= 64 ? std::vector{1, 2, 9, 17} : std::vector{1, 2}) {
      if (!covers_everything() && batch == 17) continue;
      const std::vector last(ids.end() - batch, ids.end());
      expect_among(bits_by_replica(*advanced(last, steps)), expected,
                   "batch of " + std::to_string(batch));
    }
    expect_among(bits_by_replica(*advanced({ids[1]}, steps)), expected, "alone");

    // The stride 16 changes the position and the lane of all replicas.
    std::vector<std::int64_t> turned(ids.size());
    for (std::size_t r = 0; r < ids.size(); ++r) turned[(16 * r + 4) % ids.size()] = ids[r];
    ASSERT_NE(ids, turned);
    const auto other = advanced(turned, steps);
    EXPECT_EQ(other->state().replica_ids, turned);
    EXPECT_TRUE(same_bits(expected, bits_by_replica(*other))) << "in another order";
    const Frame turned_counts = counts(*other);
    EXPECT_EQ(turned_counts.replica_ids, turned);
    expect_same_counts(expected_counts, turned_counts);
  });
}

/// Tasks of single block pairs, and more threads than processors.
TEST_P(EngineLaws, TheNumberOfThreadsChangesNothingInALargeCluster) {
  constexpr int kMolecules = 1000;
  const std::vector<int> sizes = sizes_for(GetParam().scheme, {kMolecules});
  if (sizes.empty() || kMolecules > most_molecules(GetParam().scheme)) return;
  for (Precision precision : precisions_of(GetParam())) {
    SCOPED_TRACE(name_of(precision));
    variant_ = {tip3p(), precision, cpu_instruction_sets().front()};
    const State start = start_state(system(kMolecules), {3});
    std::map<std::int64_t, Bits> expected;
    for (int threads : {1, 40}) {
      const auto e = engine(start, threads);
      e->advance(2);
      ASSERT_TRUE(e->blow_ups().empty());
      if (threads == 1) expected = bits_by_replica(*e);
      EXPECT_TRUE(same_bits(expected, bits_by_replica(*e))) << threads << " threads";
    }
  }
}

TEST_P(EngineLaws, SeedsChangeTheNoiseAndNothingElseDoes) {
  for_variants({1, 7, 17}, [&](int n) {
    System s = system(n);
    const State start = start_state(s, spread_ids(3));
    const auto run = [&](std::uint64_t seed) {
      s.seed = seed;
      const auto e = make_cpu_engine(s, start, {}, 1, variant_.instruction_set);
      e->advance(3);
      return bits_by_replica(*e);
    };
    const auto a = run(1);
    EXPECT_TRUE(same_bits(a, run(1)));
    // All 64 bits of the seed count, with a thermostat; none of them without.
    for (std::uint64_t other : {std::uint64_t{2}, (std::uint64_t{1} << 32) + 1}) {
      const auto b = run(other);
      for (const auto& [id, bits] : a) {
        EXPECT_EQ(static_cast<bool>(same_bits(bits, b.at(id))), GetParam().bath == Bath::none);
      }
    }
  });
}

/// Guards against comparisons of nothing in the tests above.
TEST_P(EngineLaws, ComparisonsDetectASingleBit) {
  for_variants({2, 17}, [&](int n) {
    const State start = start_state(system(n), spread_ids(2));
    const auto expected = bits_by_replica(*engine(start));
    for (auto numbers : {&State::positions_A, &State::velocities_A_per_akma}) {
      for (std::size_t k : {std::size_t{0}, start.coordinates() - 1}) {
        State nudged = start;
        double& c = (nudged.*numbers)[start.coordinates() + k];
        // The next number that the engine has.
        const bool position = numbers == &State::positions_A;
        c = variant_.precision != Precision::single ? std::nextafter(c, 10.0)
            : position                              ? c + kFixedUnit
                                                    : std::nextafter(static_cast<float>(c), 10.0f);
        const auto found = bits_by_replica(*engine(nudged));
        EXPECT_TRUE(same_bits(expected.at(3), found.at(3)));
        EXPECT_FALSE(same_bits(expected.at(10), found.at(10)));
      }
    }
    if (start.heat_kcal_per_mol.empty()) return;
    State warmed = start;
    double& heat = warmed.heat_kcal_per_mol.back();
    heat = std::nextafter(heat, 10.0);
    const auto found = bits_by_replica(*engine(warmed));
    EXPECT_TRUE(same_bits(expected.at(3), found.at(3)));
    EXPECT_FALSE(same_bits(expected.at(10), found.at(10)));
  });
}

INSTANTIATE_TEST_SUITE_P(All, EngineLaws, ::testing::ValuesIn(engine_cases()), EngineCaseName());
INSTANTIATE_TEST_SUITE_P(Isotopes, EngineLaws, ::testing::ValuesIn(isotope_cases()),
                         EngineCaseName());

}  // namespace
}  // namespace tarn
