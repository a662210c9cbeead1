#include <chrono>
#include <thread>

#include "kernels/ring_polymers.hpp"
#include "kernels/step_stream.hpp"
#include "quiet_run.hpp"
#include "ring_fixtures.hpp"
#include "run_files.hpp"

/// @file
/// Both paths of ring polymers on the same system. An engine takes one of them, by the numbers of
/// beads and molecules.

namespace tarn {
namespace {

using namespace test;
using namespace gpu;

ClusterSystem cluster_of(const System& system) {
  ClusterSystem c{};
  c.step = step_parameters(system);
  c.passes = step_passes(system);
  c.thermostat = system.thermostat.kind;
  c.outside = outside_forces(system);
  c.pair = pair_parameters<double>(system.model);
  c.molecules = system.molecules;
  return c;
}

/// The state after some steps, with kept states on the way.
State after_steps(const System& system, const State& start, Path path, int steps) {
  const ClusterSystem cluster = cluster_of(system);
  const bool m_site = system.model.has_m_site();
  StepStream stream(0);
  const ReplicaMemory memory(system, start, path);
  const RingPolymers rings(system, memory.device(), memory.ids(), 1);
  const auto forces = [&](long long* counter) {
    launch_bead_forces(
        {rings.beads(), cluster, system.precision, m_site, rings.block_rows(), stream.stream()},
        counter);
  };
  const RingLaunch launch = rings.launch(memory.device(), stream.stream());
  const auto part = [&](bool end, bool begin) {
    launch_ring_step(launch, cluster, end, begin, start.step, rings.counter());
  };
  wait_for_copies();
  launch_place_beads(launch);
  forces(nullptr);
  launch_ring_accelerations(launch, cluster, true, start.step);
  if (path == Path::ring_block) {
    launch_ring_advance({memory.device(), cluster, system.precision, m_site, 1, stream.stream()},
                        rings.tables(), start.step, steps);
  } else {
    part(false, true);
    for (int k = 1; k <= steps; ++k) {
      forces(rings.counter());
      part(true, k < steps);
    }
  }
  stream.wait();
  return memory.download(start.step + steps);
}

TEST(RingPaths, GiveTheSameBits) {
  for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
    for (const Precision precision : {Precision::double_, Precision::mixed}) {
      for (const auto& [beads, molecules] : {std::pair(2, 1), {5, 3}, {8, 7}, {33, 2}}) {
        SCOPED_TRACE(std::to_string(beads) + " beads, " + std::to_string(molecules) + " molecules");
        const System system = ring_system(beads, bath, molecules, precision);
        State start = ring_start(system, spread_ids(3), 2);
        start.heat_kcal_per_mol.assign(start.positions_A.size() / 9, 0.0);
        ASSERT_EQ(path_of(molecules, false, beads), Path::ring_block);
        const State block = after_steps(system, start, Path::ring_block, 7);
        const State memory = after_steps(system, start, Path::ring_memory, 7);
        EXPECT_TRUE(same_bits(bits_of_ring(block, 3), bits_of_ring(memory, 3)));
        EXPECT_EQ(block.positions_A, memory.positions_A);
        EXPECT_EQ(block.velocities_A_per_akma, memory.velocities_A_per_akma);
        EXPECT_EQ(block.heat_kcal_per_mol, memory.heat_kcal_per_mol);
        EXPECT_NE(block.positions_A, start.positions_A);
      }
    }
  }
}

/// Files of one device, of several, and of a run that was interrupted and resumed.
void expect_same_runs(const Deck& deck) {
  const ScratchFolder folder;
  const auto run = [&](const char* name, const char* device, bool interrupted) {
    RunOptions options = quiet_run(folder.file(name), 1);
    options.device = device;
    if (interrupted) {
      bool written = false;
      options.on_checkpoint = [&](std::int64_t step) {
        written = step >= 10;
        // Runs ask twice a second whether they are interrupted.
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
      };
      options.interrupted = [&] { return written; };
      EXPECT_TRUE(run_deck(deck, options).interrupted);
      options.interrupted = {};
      options.resume = true;
    }
    const RunResult result = run_deck(deck, options);
    EXPECT_FALSE(result.interrupted);
    EXPECT_NE(result.device.find("stands in"), std::string::npos) << result.device;
    return options.out_dir;
  };
  const std::string whole = run("whole", "cuda:0", false);
  expect_same_files(whole, run("parts", "cuda:0,0", false));
  expect_same_files(whole, run("resumed", "cuda:0", true));
}

TEST(RingPaths, RunDecks) {
  expect_same_runs(load_deck(
      std::string(TARN_SOURCE_DIR) + "/inputs/pimd7.toml",
      {"system.molecules=3", "system.replicas=4", "path_integral.beads=6", "run.steps=30",
       "run.equilibration_ps=0", "observe.energies.every=5", "observe.path_integral.every=5",
       "observe.geometry.every=5", "observe.rdf.every=10", "observe.cluster.every=5",
       "observe.trajectory.every=10", "observe.trajectory.beads=all", "checkpoint.every=10"}));
}
TEST(RingPaths, RunManyBodyDecks) {
  expect_same_runs(load_deck(
      std::string(TARN_SOURCE_DIR) + "/inputs/mbpol6.toml",
      {"system.molecules=3", "system.replicas=4", "run.duration_ps=0.015", "run.precision=mixed",
       "integrator.timestep_fs=0.5", "run.equilibration_ps=0", "observe.energies.every=5",
       "observe.cluster.every=5", "observe.minima.every=30", "checkpoint.every=10"}));
}

}  // namespace
}  // namespace tarn
