#include <atomic>
#include <thread>

#include "engine_fixtures.hpp"
#include "engine_parts.hpp"
#include "fake_engine.hpp"
#include "parallel/frame_parts.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/cpu_engine.hpp"

/// @file
/// Law 6: the number of parts of an engine changes no bit. Parts on CUDA devices are tested in
/// tests/device and tests/emulated.

namespace tarn {
namespace {

using namespace test;

class SplitEngines : public ::testing::TestWithParam<EngineCase> {};
INSTANTIATE_TEST_SUITE_P(Laws, SplitEngines, ::testing::ValuesIn(engine_cases()), EngineCaseName());
INSTANTIATE_TEST_SUITE_P(Isotopes, SplitEngines, ::testing::ValuesIn(isotope_cases()),
                         EngineCaseName());

TEST_P(SplitEngines, GiveTheSameBits) {
  for (const int n : {2, 7}) {
    const System system = make_system(GetParam(), tip3p(), n);
    // Not a multiple of packs or ladders; with heat for the smaller clusters.
    const State plain = start_state(system, first_ids(n == 7 ? 29 : 7), kKeptSteps - 4);
    const State start = n == 2 ? tallied(plain) : plain;
    for (const int parts : {1, 2, 3, 5}) {
      const int threads = parts % 2 + 1;
      SCOPED_TRACE(std::to_string(n) + " molecules, " + std::to_string(parts) + " parts");
      const auto whole = make_cpu_engine(system, start, counts_of_pairs(), 2);
      const auto split = split_on_cpu(system, start, parts, threads);
      ASSERT_EQ(split->parts().size(), static_cast<std::size_t>(parts));
      expect_same_steps(*whole, *split, true);
    }
  }
}

/// Ring polymers, and clusters that several threads share.
TEST(SplitEngine, GivesTheSameBitsForRingsAndLargeClusters) {
  System rings = make_system({"flexible_verlet", Bath::baoab}, tip4p(), 3);
  rings.path_integral.beads = 8;
  const State classical = start_state(rings, first_ids(6), kKeptSteps - 4);
  const System large = make_system({"settle", Bath::gla}, tip3p(), 129);
  struct Case {
    System system;
    State start;
  };
  for (const auto& [system, start] :
       {Case{rings, start::rings_of(rings, classical, nullptr, true, false)},
        Case{large, start_state(large, first_ids(6))}}) {
    for (const int parts : {2, 3, 5}) {
      SCOPED_TRACE(std::to_string(parts) + " parts, " + std::to_string(start.beads) + " beads");
      const auto whole = make_cpu_engine(system, start, counts_of_pairs(), 1);
      const auto split = split_on_cpu(system, start, parts, 2);
      expect_same_steps(*whole, *split, start.beads == 1);
    }
  }
}

TEST(SplitEngine, ContinuesFromItsStateWithOtherParts) {
  const System system = make_system({"settle", Bath::baoab_per_mass}, tip3p(), 7);
  const State start = tallied(start_state(system, first_ids(13)));
  const auto whole = split_on_cpu(system, start, 1, 1);
  whole->advance(9);
  const auto three = split_on_cpu(system, start, 3, 1);
  three->advance(4);
  const auto five = split_on_cpu(system, three->state(), 5, 1);
  five->advance(5);
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(five->state())));
}

/// Lindemann sums of a checkpoint reach the parts that have the replicas.
TEST(SplitEngine, ContinuesLindemannSums) {
  const System system = make_system({"settle", Bath::gla}, tip3p(), 7);
  const State start = start_state(system, first_ids(10));
  const auto whole = split_on_cpu(system, start, 1, 1);
  const auto before = split_on_cpu(system, start, 2, 1);
  MeasureSettings settings = settings_of_all_fields();
  for (Engine* e : {whole.get(), before.get()}) e->measure_with(settings);
  whole->advance(7);
  before->advance(4);
  Frame a, b;
  before->snapshot(kLindemannSums, b);
  settings.lindemann_sums = b.lindemann_sums;
  const auto after = split_on_cpu(system, before->state(), 3, 1);
  after->measure_with(settings);
  after->advance(3);
  whole->snapshot(kLindemann | kLindemannSums | kLindemannMoments, a);
  after->snapshot(kLindemann | kLindemannSums | kLindemannMoments, b);
  EXPECT_TRUE(same_bits(bits_of(a), bits_of(b)));
}

TEST(SplitEngine, NamesItsParts) {
  const System system = make_system({"settle", Bath::gla}, tip3p(), 2);
  const State start = start_state(system, first_ids(10));
  const auto one = make_cpu_engine(system, start, {}, 1);
  const auto split = split_on_cpu(system, start, 3, 1);
  EXPECT_EQ(split->description(), "3 x " + one->description());
  EXPECT_EQ(split->arithmetic(), one->arithmetic());
  const std::vector<EnginePart> parts = split->parts();
  ASSERT_EQ(parts.size(), 3u);
  std::int64_t next = 0;
  for (const EnginePart& part : parts) {
    EXPECT_EQ(part.device, one->description());
    EXPECT_EQ(part.first_replica, next);
    EXPECT_EQ(part.last_replica, next + part.replicas - 1);
    next += part.replicas;
  }
  EXPECT_EQ(next, 10);
  // Fewer replicas than parts.
  const std::vector<EnginePart> one_used =
      split_on_cpu(system, start_state(system, {4}), 3, 1)->parts();
  ASSERT_EQ(one_used.size(), 3u);
  EXPECT_EQ(one_used[0].first_replica, 4);
  EXPECT_EQ(one_used[1].replicas, 0);
}

TEST(SplitEngine, PassesOnTheFirstException) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 2);
  const State start = start_state(system, first_ids(6));
  const auto maker = [](std::int64_t no_memory_at) {
    return [no_memory_at](const State& share) -> std::unique_ptr<Engine> {
      FakeScript script;
      script.no_memory_at = no_memory_at;
      return std::make_unique<FakeEngine>(share, PairCountRequest{}, 0.001, script);
    };
  };
  const auto engine = make_split_engine(system, start, {maker(-1), maker(5), maker(-1)}, 1);
  engine->advance(4);
  engine->begin_advance(3);
  EXPECT_THROW(engine->wait(), std::bad_alloc);
  // The report of what was done is still available.
  EXPECT_EQ(engine->report().molecule_steps, 30);
  EXPECT_EQ(engine->state().replica_ids.size(), 6u);

  const PartMaker refuses = [](const State&) -> std::unique_ptr<Engine> {
    throw DeviceError("there is no device cuda:7");
  };
  EXPECT_THROW(make_split_engine(system, start, {maker(-1), refuses}, 1), DeviceError);
  EXPECT_THROW(make_split_engine(system, start, {}, 1), std::invalid_argument);
  State short_one = start;
  short_one.positions_A.pop_back();
  EXPECT_THROW(make_split_engine(system, short_one, {maker(-1)}, 1), InputError);
}

/// Engines of different arithmetic may share replicas, but not exchange them.
TEST(SplitEngine, DoesNotExchangeBetweenKinds) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 2);
  const State start = start_state(system, first_ids(4));
  const PartMaker cpu = [&](const State& share) { return make_cpu_engine(system, share, {}, 1); };
  const PartMaker fake = [](const State& share) {
    return std::make_unique<FakeEngine>(share, PairCountRequest{}, 0.001);
  };
  const auto engine = make_split_engine(system, start, {cpu, fake}, 1);
  EXPECT_NE(engine->arithmetic().find(" and fake"), std::string::npos) << engine->arithmetic();
  EXPECT_THROW(engine->exchange(std::vector<StateExchange>{{0, 3, 1.0, 1.0}}), InputError);
  engine->exchange(std::vector<StateExchange>{{0, 1, 1.0, 1.0}});
}

/// Each part is made, used and destroyed on its own thread.
TEST(SplitEngine, UsesOneThreadPerPart) {
  static std::atomic<int> elsewhere = 0;
  class OnOneThread final : public Engine {
   public:
    explicit OnOneThread(State start) : engine_(std::move(start), {}, 0.001) {}
    ~OnOneThread() override { check(); }
    void advance(std::int64_t n) override { check(), engine_.advance(n); }
    std::int64_t step() const override { return engine_.step(); }
    void snapshot(unsigned fields, Frame& frame) override {
      check(), engine_.snapshot(fields, frame);
    }
    void measure_with(const MeasureSettings& s) override { check(), engine_.measure_with(s); }
    void exchange(std::span<const StateExchange>) override { check(); }
    State state() const override { return check(), engine_.state(); }
    std::vector<BlowUp> blow_ups() const override { return check(), engine_.blow_ups(); }
    EngineReport report() const override { return check(), engine_.report(); }
    std::string description() const override { return check(), engine_.description(); }

   private:
    void check() const { elsewhere += std::this_thread::get_id() != thread_; }
    std::thread::id thread_ = std::this_thread::get_id();
    FakeEngine engine_;
  };
  {
    const PartMaker maker = [](const State& share) { return std::make_unique<OnOneThread>(share); };
    const System system = make_system({"settle", Bath::none}, tip3p(), 2);
    const State start = start_state(system, first_ids(4));
    const auto engine = make_split_engine(system, start, {maker, maker}, 1);
    engine->measure_with({});
    engine->advance(2);
    Frame frame;
    engine->snapshot(kEnergies, frame);
    EXPECT_EQ(frame.energies.size(), 4u);
    engine->state();
    engine->blow_ups();
    engine->report();
  }
  EXPECT_EQ(elsewhere, 0);
}

TEST(Shares, ConsistOfWholeLaddersAndPacks) {
  System system;
  const auto begins = [&](std::size_t replicas, std::size_t parts) {
    return parallel::share_begins(replicas, parts, system);
  };
  using Begins = std::vector<std::size_t>;
  EXPECT_EQ(begins(64, 2), (Begins{0, 32, 64}));
  EXPECT_EQ(begins(64, 3), (Begins{0, 16, 40, 64})) << "packs of eight";
  EXPECT_EQ(begins(10, 3), (Begins{0, 3, 6, 10}));
  EXPECT_EQ(begins(65, 8), (Begins{0, 8, 16, 24, 32, 40, 48, 56, 65}));
  EXPECT_EQ(begins(2, 4), (Begins{0, 1, 2, 2, 2}));
  EXPECT_EQ(begins(0, 1), (Begins{0, 0}));
  system.thermostat.temperatures_K.assign(6, 300.0);
  EXPECT_EQ(begins(24, 3), (Begins{0, 6, 12, 24})) << "ladders of six";
  EXPECT_EQ(begins(48, 2), (Begins{0, 24, 48})) << "ladders and packs";
  EXPECT_EQ(begins(6, 3), (Begins{0, 2, 4, 6})) << "a ladder in parts";
}

}  // namespace
}  // namespace tarn
