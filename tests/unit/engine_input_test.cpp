#include "engine_fixtures.hpp"
#include "forked.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/force_field.hpp"
#include "testing.hpp"

/// @file
/// What a program may hand to an engine or a ForceField by mistake: it is told, and nothing is read
/// that is not there.

namespace tarn {
namespace {

using namespace test;

struct Input {
  System system;
  State start;
  PairCountRequest counts;
};

Input good_input() {
  Input in;
  in.system = make_system({"settle", Bath::gla}, tip3p(), 2);
  in.start = start_state(in.system, {0, 5});
  in.counts.enabled = true;
  return in;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Mistake {
  std::string message;  ///< a part of it
  std::function<void(Input&)> make;
  const char* scheme = "settle";
};

const std::vector<Mistake> kMistakes{
    {"has 2000 molecules and its start state 2", [](Input& in) { in.system.molecules = 2000; }},
    {"has 2 molecules and its start state 1", [](Input& in) { in.start.molecules = 1; }},
    {"1 molecule or more", [](Input& in) { in.system.molecules = in.start.molecules = 0; }},
    {"1 molecule or more", [](Input& in) { in.system.molecules = in.start.molecules = -2; }},
    {"at step -1", [](Input& in) { in.start.step = -1; }},
    {"35 numbers in positions_A; 2 replicas of 2 molecules have 36",
     [](Input& in) { in.start.positions_A.pop_back(); }},
    {"0 numbers in velocities_A_per_akma; 2 replicas",
     [](Input& in) { in.start.velocities_A_per_akma.clear(); }},
    {"36 numbers in positions_A; 3 replicas", [](Input& in) { in.start.replica_ids.push_back(7); }},
    {"two replicas have the id 5", [](Input& in) { in.start.replica_ids[0] = 5; }},
    {"ids must be 0 or more; one is -3", [](Input& in) { in.start.replica_ids[1] = -3; }},
    {"every = 0", [](Input& in) { in.counts.every = 0; }},
    {"bins = -3", [](Input& in) { in.counts.bins = -3; }},
    {"groups = 0", [](Input& in) { in.counts.groups = 0; }},
    {"r_max_A = 0", [](Input& in) { in.counts.r_max_A = 0.0; }},
    {"r_max_A = inf", [](Input& in) { in.counts.r_max_A = kInfinity; }},
    {"does not support Newmark", [](Input& in) { in.system.precision = Precision::single; },
     "pushforward"},
    {"timestep_akma = 0; it must be a number above 0",
     [](Input& in) { in.system.integrator.timestep_akma = 0.0; }},
    {"timestep_akma = nan", [](Input& in) { in.system.integrator.timestep_akma = std::nan(""); }},
    {"beta = 0", [](Input& in) { in.system.integrator.beta = 0.0; }, "zss-stiff"},
    {"omega = 0", [](Input& in) { in.system.integrator.omega = 0.0; }, "zss-stiff"},
    {"omega = inf", [](Input& in) { in.system.integrator.omega = kInfinity; }, "verlet"},
    {"omega = inf",
     [](Input& in) {
       in.system.integrator.hessian = Hessian::full;
       in.system.integrator.omega = kInfinity;
     },
     "zss-stiff"},
    {"tolerance = 0", [](Input& in) { in.system.integrator.tolerance = 0.0; }, "shake"},
    {"an atom of mass = 0", [](Input& in) { in.system.model.mass_h_Da = 0.0; }},
    {"temperature_K = -5", [](Input& in) { in.system.thermostat.temperature_K = -5.0; }},
    {"temperatures_K = -5; it must be 0 or more",
     [](Input& in) {
       in.system.thermostat.temperatures_K = {5.0, -5.0};
     }},
    {"temperatures_K but temperature_K = 0",
     [](Input& in) {
       in.system.thermostat.temperature_K = 0.0;
       in.system.thermostat.temperatures_K = {5.0, 0.0};
     }},
    {"no half drift for BAOAB", [](Input& in) { in.system.thermostat.kind = Thermostat::baoab; },
     "one_step"},
    {"friction_oxygen_per_akma = -1",
     [](Input& in) { in.system.thermostat.friction_oxygen_per_akma = -1.0; }},
    {"friction_hydrogen_per_akma = -1",
     [](Input& in) { in.system.thermostat.friction_hydrogen_per_akma = -1.0; }},
    {"radius_A = -1", [](Input& in) { in.system.confinement.radius_A = -1.0; }},
    {"stiffness_kcal_per_mol_A2 = -1",
     [](Input& in) { in.system.confinement.stiffness_kcal_per_mol_A2 = -1.0; }},
    {"molecule 1 violates this",
     [](Input& in) {
       in.system.precision = Precision::single;
       in.start.positions_A[9 + 3] += 17.0;
     }},
};

TEST(EngineInput, AllFactoriesRejectInvalidInput) {
  for (const Mistake& mistake : kMistakes) {
    Input in = good_input();
    in.system.integrator = integrator(mistake.scheme);
    mistake.make(in);
    // Before a device is looked for.
    for (const char* device : {"cpu", "cuda"}) {
      const std::string message = message_of<InputError>([&] {
        make_engine(in.system, in.start, in.counts, {device, 1});
      });
      EXPECT_TRUE(contains(message, mistake.message));
    }
    const std::string message =
        message_of<InputError>([&] { make_cpu_engine(in.system, in.start, in.counts, 1); });
    EXPECT_TRUE(contains(message, mistake.message));
  }
}

TEST(EngineInput, UnusedParametersAreNotChecked) {
  Input in = good_input();
  in.counts.enabled = false;
  in.counts.every = 0;
  make_cpu_engine(in.system, in.start, in.counts, 1)->advance(3);
  // Nor the numbers of what is not there, and infinity where it means something.
  in.system.thermostat = {};
  in.system.thermostat.temperature_K = -5.0;
  in.system.integrator.beta = -1.0;
  in.system.integrator.omega = 0.0;
  make_cpu_engine(in.system, in.start, in.counts, 1)->advance(3);
  for (const char* scheme : {"zss-stiff", "pushforward"}) {
    in.system.integrator = integrator(scheme);
    in.system.integrator.omega = kInfinity;
    make_cpu_engine(in.system, in.start, in.counts, 1)->advance(3);
  }
  // No replicas are legal, and nothing happens to them.
  make_cpu_engine(in.system, start_state(in.system, {}), in.counts, 1)->advance(3);
}

TEST(ForceFieldInput, HasItsSize) {
  for (const int n : {0, -1}) {
    EXPECT_THROW(ForceField(tip3p(), n), InputError) << n;
  }
  ForceField force_field(tip3p(), 40);
  std::vector<double> x = lattice_cluster(tip3p(), 40, 1), f(x.size());
  force_field.energy_and_forces(x, f);
  const std::vector<double> few(9), many(361);
  for (const std::vector<double>& wrong : {few, many}) {
    EXPECT_TRUE(contains(message_of<InputError>([&] { force_field.energy(wrong); }),
                         "40 molecules has 360 coordinates, not " + std::to_string(wrong.size())));
    EXPECT_THROW(force_field.energy_and_forces(wrong, f), InputError);
    std::vector<double> forces = wrong;
    EXPECT_THROW(force_field.energy_and_forces(x, forces), InputError);
  }
}

// --- engines in the child of a fork ---

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
