#include <memory>

#include "engine_fixtures.hpp"
#include "forked.hpp"
#include "start/rings.hpp"
#include "tarn/core/error.hpp"

/// @file
/// Engines in the child of a fork.

namespace tarn {
namespace {

using namespace test;

#if !defined(__SANITIZE_THREAD__)  // which does not support threads after a fork
/// Several groups, which two threads share.
std::unique_ptr<Engine> classical_engine() {
  const System system = make_system({"settle", Bath::none}, tip3p(), 3);
  return make_cpu_engine(system, start_state(system, spread_ids(64)), {}, 2);
}
std::unique_ptr<Engine> ring_engine() {
  System system = make_system({"flexible_verlet", Bath::none}, tip4p(), 3);
  system.path_integral.beads = 4;
  system.path_integral.temperature_K = 200.0;
  system.path_integral.method = RingMethod::rpmd;
  return make_cpu_engine(
      system, start::rings_of(system, start_state(system, spread_ids(64)), nullptr, true, false),
      {}, 2);
}

class ForkedEngine : public testing::TestWithParam<std::unique_ptr<Engine> (*)()> {
 protected:
  std::unique_ptr<Engine> engine_of_two_threads() const { return GetParam()(); }
};
INSTANTIATE_TEST_SUITE_P(Engines, ForkedEngine, testing::Values(classical_engine, ring_engine));

TEST_P(ForkedEngine, AnInheritedEngineGivesTheSameTrajectory) {
  const auto engine = engine_of_two_threads(), other = engine_of_two_threads();
  engine->advance(3);
  other->advance(8);
  const State expected = other->state();
  EXPECT_EQ(status_of_child([&] {
              engine->advance(5);
              return engine->step() == 8 && engine->state().positions_A == expected.positions_A;
            }),
            0);
}

TEST_P(ForkedEngine, AnEngineThatComputedDuringTheForkReportsIt) {
  const auto engine = engine_of_two_threads();
  engine->begin_advance(5);
  EXPECT_EQ(status_of_child([&] {
              for (int call = 0; call < 2; ++call) {
                try {
                  engine->wait();
                  return false;
                } catch (const InputError&) {
                }
              }
              const auto another = engine_of_two_threads();
              another->advance(2);
              return another->step() == 2;
            }),
            0);
  engine->wait();
  EXPECT_EQ(engine->step(), 5);
}
#endif

}  // namespace
}  // namespace tarn
