#include <sys/resource.h>
#include <unistd.h>

#include "engine_fixtures.hpp"
#include "engine_parts.hpp"
#include "model_potential.hpp"
#include "start/molecule_frame.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/ranks.hpp"
#if defined(TARN_TEST_EMULATED)
#include "emulated_machine.hpp"
#endif

/// @file
/// Law 6 for MPI ranks: a program that mpirun starts. Rank 0 runs the tests, and the other ranks
/// follow its orders. On the emulated GPU each rank has devices of its own.

namespace tarn {
namespace {

using namespace test;

Ranks* g_ranks = nullptr;  // null: a single process
std::string last_rank() { return "rank " + std::to_string(g_ranks->size() - 1); }

#if defined(TARN_TEST_EMULATED)
constexpr const char* kWhole = "cuda:0";
/// One device and two devices in each rank.
std::vector<std::string> devices() {
  const bool one_each = g_ranks->size() <= emulated::machine.devices;
  return {one_each ? "cuda" : "cuda:0", "cuda:0,1"};
}
#else
constexpr const char* kWhole = "cpu";
std::vector<std::string> devices() { return {"cpu"}; }
#endif

/// The same steps on all ranks and on this one.
void expect_same_on_ranks(const System& system, const State& start, int threads, bool exchanges) {
  for (const std::string& device : devices()) {
    SCOPED_TRACE(device + ", " + std::to_string(threads) + " threads");
    const auto whole = make_engine(system, start, counts_of_pairs(), {kWhole, 1});
    const auto ranks = g_ranks->make_engine(system, start, counts_of_pairs(), {device, threads});
    expect_same_steps(*whole, *ranks, exchanges);
  }
}

class RanksEngines : public ::testing::TestWithParam<EngineCase> {
 protected:
  void SetUp() override {
    if (g_ranks == nullptr) GTEST_SKIP() << "a single process";
  }
};
INSTANTIATE_TEST_SUITE_P(Laws, RanksEngines,
                         ::testing::Values(EngineCase{"zss_structured", Bath::none},
                                           EngineCase{"zss_structured", Bath::gla_per_mass},
                                           EngineCase{"settle", Bath::baoab_per_mass},
                                           EngineCase{"shake", Bath::gla},
                                           EngineCase{"zss_infinite", Bath::baoab},
                                           EngineCase{"pushforward", Bath::gla_per_mass},
                                           EngineCase{"flexible_verlet", Bath::baoab}),
                         EngineCaseName());

/// Shares of whole ladders and packs, shares that divide a ladder, and ranks without replicas.
TEST_P(RanksEngines, GiveTheSameBits) {
  for (const int replicas : {6, 61}) {
    const System system = make_system(GetParam(), tip3p(), 2);
    const State plain = start_state(system, first_ids(replicas), kKeptSteps - 4);
    const bool few = replicas == 6;
    expect_same_on_ranks(system, few ? tallied(plain) : plain, few ? 1 : 2, true);
  }
}

class RanksEngine : public RanksEngines {};
/// The systems of RanksPotential; the text of a recipe says which one.
System system_with_potential(const std::string& recipe) {
  System s = make_system({recipe == "rigid" ? "settle" : "flexible_verlet", Bath::gla_per_mass},
                         tip4p(), 2);
  if (recipe == "rings") s.path_integral.beads = 8;
  s.thermostat.temperatures_K = {280.0, 300.0};
  return s;
}
std::shared_ptr<ModelPotential> potential_of_rank(const std::string& recipe, int rank) {
  const System s = system_with_potential(recipe);
  auto potential = std::make_shared<ModelPotential>(s.model, s.molecules);
  potential->own_recipe = recipe;
  if (const char* failing = std::getenv("TARN_TEST_THROWING_RANK")) {
    if (std::to_string(rank) == failing) potential->throws_at = 8;
  }
  return potential;
}
INSTANTIATE_TEST_SUITE_P(All, RanksEngine, ::testing::Values(EngineCase{"settle", Bath::gla}),
                         EngineCaseName());

/// Each rank calls a potential of its own.
TEST_P(RanksEngine, GivesTheSameBitsWithAPotential) {
  if (std::getenv("TARN_TEST_THROWING_RANK") != nullptr) GTEST_SKIP();
  for (const std::string kind : {"rigid", "flexible", "rings"}) {
    SCOPED_TRACE(kind);
    const System s = system_with_potential(kind);
    State start = start_state(s, first_ids(7), kKeptSteps - 4);
    if (kind == "rings") start = start::rings_of(s, start, nullptr, true, false);
    const auto whole = make_engine(s, start, {}, {"cpu", 1, potential_of_rank(kind, 0)});
    const auto ranks = g_ranks->make_engine(s, start, {}, {"auto", 2, potential_of_rank(kind, 0)});
    expect_same_steps(*whole, *ranks, true);
  }
}

TEST_P(RanksEngine, RefusesAPotentialThatOtherRanksCannotMake) {
  const System s = system_with_potential("rigid");
  const auto potential = potential_of_rank("", 0);
  const State start = start_state(s, first_ids(7));
  EXPECT_THROW(g_ranks->make_engine(s, start, {}, {"cpu", 1, potential}), InputError);
}

/// An exception of a rank's potential reaches rank 0, and the ranks follow the next orders.
TEST_P(RanksEngine, ReportsTheExceptionOfAPotential) {
  if (std::getenv("TARN_TEST_THROWING_RANK") == nullptr) GTEST_SKIP() << "no rank throws";
  const System s = system_with_potential("rigid");
  const State start = start_state(s, first_ids(7));
  {
    const auto engine =
        g_ranks->make_engine(s, start, {}, {"cpu", 1, potential_of_rank("rigid", 0)});
    engine->advance(5);
    const std::string text = message_of<std::runtime_error>([&] { engine->advance(5); });
    EXPECT_TRUE(contains(text, "rank 1") && contains(text, "no convergence")) << text;
  }
  const auto again = g_ranks->make_engine(s, start, {}, {"cpu", 1});
  again->advance(2);
  EXPECT_EQ(again->step(), 2);
}

TEST_P(RanksEngine, GivesTheSameBitsForRings) {
  const System rings = system_with_potential("rings");
  const State classical = start_state(rings, first_ids(7), kKeptSteps - 4);
  expect_same_on_ranks(rings, start::rings_of(rings, classical, nullptr, true, false), 2, true);
}

/// Several engines at a time, as in comparisons, and an engine after another one.
TEST_P(RanksEngine, MakesSeveralEngines) {
  const System system = make_system(GetParam(), tip3p(), 7);
  const State start = start_state(system, first_ids(9));
  const auto whole = make_engine(system, start, {}, {kWhole, 1});
  const auto first = g_ranks->make_engine(system, start, {}, {kWhole, 1});
  auto second = g_ranks->make_engine(system, start, {}, {kWhole, 1});
  first->begin_advance(3);
  second->advance(5);
  first->advance(2);
  whole->advance(5);
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(first->state())));
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(second->state())));
  // A frame that is finished after the orders of both engines, and one that nobody takes.
  EXPECT_TRUE(first->begin_snapshot(kEnergies));
  second->advance(3);
  EXPECT_EQ(second->report().molecule_steps, 8 * 7 * 9);
  first->advance(2);
  Frame frame, expected;
  first->finish_snapshot(frame);
  whole->snapshot(kEnergies, expected);
  EXPECT_TRUE(same_bits(bits_of(expected), bits_of(frame)));
  whole->advance(2);
  EXPECT_TRUE(first->begin_snapshot(kEnergies));
  second.reset();
  first->advance(1);
  whole->advance(1);
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(first->state())));
}

TEST_P(RanksEngine, ContinuesLindemannSums) {
  const System system = make_system(GetParam(), tip3p(), 7);
  const State start = start_state(system, first_ids(20));
  MeasureSettings settings = settings_of_all_fields();
  const auto whole = make_engine(system, start, {}, {kWhole, 1});
  whole->measure_with(settings);
  whole->advance(4);
  Frame a, b;
  whole->snapshot(kLindemannSums, a);
  settings.lindemann_sums = a.lindemann_sums;
  const auto ranks = g_ranks->make_engine(system, whole->state(), {}, {kWhole, 1});
  ranks->measure_with(settings);
  for (Engine* e : {whole.get(), ranks.get()}) e->advance(3);
  whole->snapshot(kLindemann | kLindemannSums | kLindemannMoments, a);
  ranks->snapshot(kLindemann | kLindemannSums | kLindemannMoments, b);
  EXPECT_TRUE(same_bits(bits_of(a), bits_of(b)));
}

TEST_P(RanksEngine, NamesTheRanks) {
  const System system = make_system(GetParam(), tip3p(), 2);
  const auto engine =
      g_ranks->make_engine(system, start_state(system, first_ids(2)), {}, {kWhole, 1});
  const std::vector<EnginePart> parts = engine->parts();
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(g_ranks->size()));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    EXPECT_EQ(parts[rank].rank, static_cast<int>(rank));
    EXPECT_FALSE(parts[rank].host.empty());
    EXPECT_EQ(parts[rank].replicas, rank < 2 ? 1 : 0);
    EXPECT_EQ(parts[rank].device == "not used", rank >= 2);
  }
  const auto ended_by = std::to_string(g_ranks->size()) + " ranks";
  EXPECT_TRUE(engine->description().ends_with(ended_by)) << engine->description();
}

/// Errors of all ranks reach the caller as one, and the ranks can make another engine.
TEST_P(RanksEngine, PassesOnErrors) {
  const System system = make_system(GetParam(), tip3p(), 2);
  const State start = start_state(system, first_ids(6));
  EXPECT_THROW(g_ranks->make_engine(system, start, {}, {"abacus", 1}), InputError);
  // Only the last rank has this replica.
  State bad = start;
  bad.positions_A.back() = 1e9;
  System single = system;
  single.precision = Precision::single;
  EXPECT_THROW(g_ranks->make_engine(single, bad, {}, {kWhole, 1}), InputError);
  State short_one = start;
  short_one.positions_A.pop_back();
  EXPECT_THROW(g_ranks->make_engine(system, short_one, {}, {kWhole, 1}), InputError);
  // Found by the ranks.
  EXPECT_THROW(g_ranks->make_engine(system, start, {}, {"cuda:77", 1}), DeviceError);
  const auto whole = make_engine(system, start, {}, {kWhole, 1});
  const auto ranks = g_ranks->make_engine(system, start, {}, {kWhole, 1});
  for (Engine* e : {whole.get(), ranks.get()}) e->advance(2);
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(ranks->state())));
}

/// The environment limits the memory of the last rank.
TEST_P(RanksEngine, NamesTheRankWithoutMemory) {
  if (std::getenv("TARN_TEST_NO_MEMORY_RANK") == nullptr) GTEST_SKIP() << "there is memory";
  const System system = make_system(GetParam(), tip3p(), 2);
  const State some = start_state(system, first_ids(6));
  State many = some;
  for (int copies = 0; copies < 15; ++copies) {
    const auto twice = [](auto& values) {
      values.reserve(2 * values.size());
      values.insert(values.end(), values.begin(), values.end());
    };
    twice(many.positions_A);
    twice(many.velocities_A_per_akma);
    twice(many.replica_ids);
  }
  many.replica_ids = first_ids(static_cast<int>(many.replica_ids.size()));
  const std::string text = message_of<DeviceError>([&] {
    g_ranks->make_engine(system, many, {}, {kWhole, 1});
  });
  EXPECT_TRUE(text.starts_with(last_rank()) && contains(text, "not enough memory")) << text;
  // The rank can be used afterwards.
  const auto whole = make_engine(system, some, {}, {kWhole, 1});
  const auto ranks = g_ranks->make_engine(system, some, {}, {kWhole, 1});
  for (Engine* e : {whole.get(), ranks.get()}) e->advance(2);
  EXPECT_TRUE(same_bits(bits_of(whole->state()), bits_of(ranks->state())));
}

#if defined(TARN_TEST_EMULATED)

/// "cuda" is one device per rank; more ranks than devices need names of devices.
TEST_P(RanksEngine, DividesTheDevicesOfTheNode) {
  const System system = make_system(GetParam(), tip3p(), 2);
  const State start = start_state(system, first_ids(10));
  const int devices = emulated::machine.devices, ranks = g_ranks->size();
  for (const std::string name : {"cuda", "cuda:all"}) {
    if (ranks > devices) {
      const std::string text = message_of<DeviceError>([&] {
        g_ranks->make_engine(system, start, {}, {name, 1});
      });
      for (const std::string& part :
           {std::to_string(ranks) + " ranks on ", std::string("have 3 GPUs between them"),
            std::string("--ntasks-per-node=3")}) {
        EXPECT_TRUE(contains(text, part)) << text;
      }
      continue;
    }
    const auto parts = g_ranks->make_engine(system, start, {}, {name, 1})->parts();
    EXPECT_EQ(parts.size(), static_cast<std::size_t>(name == "cuda" ? ranks : devices));
  }
}

/// The environment makes a launch on the last rank fail.
TEST_P(RanksEngine, NamesTheRankWhoseDeviceFails) {
  if (std::getenv("TARN_TEST_FAILING_RANK") == nullptr) GTEST_SKIP() << "no device fails";
  const System system = make_system(GetParam(), tip3p(), 2);
  const auto engine =
      g_ranks->make_engine(system, start_state(system, first_ids(10)), {}, {kWhole, 1});
  engine->advance(2);
  EXPECT_TRUE(engine->blow_ups().empty());
  const std::string text = message_of<DeviceError>([&] {
    for (int k = 0; k < 100; ++k) engine->advance(2);
  });
  EXPECT_TRUE(text.starts_with(last_rank())) << text;
  // What a run records of its failure.
  EXPECT_TRUE(engine->blow_ups().empty());
  EXPECT_EQ(engine->report().molecule_steps, 0);
}

/// The same while frames with means are begun and finished, as in a run.
TEST_P(RanksEngine, NamesTheRankWhoseDeviceFailsInAFrame) {
  if (std::getenv("TARN_TEST_FAILING_RANK") == nullptr) GTEST_SKIP() << "no device fails";
  const System system = make_system(GetParam(), tip3p(), 2);
  const auto engine =
      g_ranks->make_engine(system, start_state(system, first_ids(10)), {}, {kWhole, 1});
  engine->measure_with(settings_of_all_fields());
  Frame frame;
  const std::string text = message_of<DeviceError>([&] {
    for (int k = 0; k < 100; ++k) {
      EXPECT_TRUE(engine->begin_snapshot(kGroupFields));
      engine->begin_advance(1);
      engine->finish_snapshot(frame);
    }
  });
  EXPECT_TRUE(text.starts_with(last_rank())) << text;
}

#endif

}  // namespace
}  // namespace tarn

namespace {

/// Leaves this process room for 60 MB more.
void limit_memory() {
  std::ifstream statistics("/proc/self/statm");
  rlim_t pages = 0;
  statistics >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + 60'000'000;
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  const std::unique_ptr<tarn::Ranks> ranks = tarn::Ranks::launched();
  const bool is_last = ranks && ranks->rank() == ranks->size() - 1;
  if (is_last && std::getenv("TARN_TEST_NO_MEMORY_RANK") != nullptr) limit_memory();
#if defined(TARN_TEST_EMULATED)
  tarn::emulated::machine.devices = 3;
  if (is_last && std::getenv("TARN_TEST_FAILING_RANK") != nullptr) {
    tarn::emulated::machine.good_launches = 40;
  }
#endif
  if (ranks && ranks->rank() > 0) {
    ranks->serve({}, tarn::potential_of_rank);
    return 0;
  }
  tarn::g_ranks = ranks.get();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
