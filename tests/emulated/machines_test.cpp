#include <stdlib.h>

#include <cuda_runtime.h>

#include "engine_fixtures.hpp"
#include "engine_parts.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "ring_fixtures.hpp"
#include "run/run_messages.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/compare.hpp"
#include "tarn/deck.hpp"

/// @file
/// Machines that lack something: the probe or the engine reports what.

namespace tarn {
namespace {

using namespace test;

class Machines : public ::testing::Test {
 protected:
  void TearDown() override { emulated::machine = {}; }
  /// Probes a machine; a run on it must have the same message.
  static DeviceProbe probe(int driver, cudaError_t error, int devices) {
    emulated::machine = {driver, error, devices};
    const System system = make_system({"settle", Bath::none}, tip3p(), 2);
    const DeviceProbe found = probe_devices();
    try {
      make_cuda_engine(system, start_state(system, {0}), {});
      EXPECT_EQ(found.status, ProbeStatus::ok);
    } catch (const DeviceError& thrown) {
      EXPECT_EQ(thrown.what(), found.message);
      EXPECT_EQ(thrown.code(), ExitCode::device);
    }
    EXPECT_EQ(found.message.empty(), found.status == ProbeStatus::ok);
    EXPECT_EQ(found.devices.empty(), found.status != ProbeStatus::ok);
    return found;
  }
};

TEST_F(Machines, AreDistinguished) {
  EXPECT_EQ(probe(13000, cudaSuccess, 1).status, ProbeStatus::ok);
  EXPECT_EQ(probe(0, cudaErrorInsufficientDriver, 0).status, ProbeStatus::no_driver);
  const DeviceProbe old = probe(11080, cudaErrorInsufficientDriver, 0);
  EXPECT_EQ(old.status, ProbeStatus::driver_too_old);
  EXPECT_EQ(old.driver_version, "11.8");
  EXPECT_EQ(probe(13000, cudaErrorNoDevice, 0).status, ProbeStatus::no_device);
  EXPECT_EQ(probe(13000, cudaSuccess, 0).status, ProbeStatus::no_device);
  EXPECT_EQ(probe(13000, cudaErrorMemoryAllocation, 0).status, ProbeStatus::failed);
}

/// Dense solves require cuSOLVER; without it everything else works.
TEST_F(Machines, WithoutCusolverRefuseDenseSolvesOnly) {
#if defined(TARN_TEST_WITHOUT_CUSOLVER)
  const bool there = false;
#else
  const bool there = true;
#endif
  EXPECT_EQ(cusolver_problem().empty(), there);
  for (const std::string scheme : {"zss_structured", "zss_dense", "zss_molecule", "zss_total"}) {
    const System system = make_system({scheme, Bath::none}, tip3p(), 2);
    try {
      make_cuda_engine(system, start_state(system, {0}), {});
      EXPECT_TRUE(there || scheme == "zss_structured") << scheme;
    } catch (const DeviceError& error) {
      EXPECT_FALSE(there || scheme == "zss_structured") << scheme << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find("cuSOLVER"), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), ExitCode::device);
    }
  }
}

/// "auto" selects the GPU if it suits the precision and the solves. The number of replicas affects
/// only the note.
TEST_F(Machines, AreTakenByAuto) {
  const auto taken = [](const std::string& scheme, Precision precision, std::int64_t replicas) {
    return auto_device(make_system({scheme, Bath::none}, tip3p(), 7, precision), replicas, 4);
  };
  for (std::int64_t replicas : {1, 30, 1'000'000}) {
    const AutoDevice device = taken("zss_structured", Precision::double_, replicas);
    EXPECT_EQ(device.name, "cuda");
    EXPECT_EQ(contains(device.note, "--device cpu"), replicas <= 30) << device.note;
    EXPECT_EQ(device.note.empty(), replicas > 30) << device.note;
  }
  EXPECT_EQ(taken("zss_dense", Precision::double_, 1000).name,
            cusolver_problem().empty() ? "cuda" : "cpu");
  EXPECT_EQ(contains(taken("zss_dense", Precision::double_, 1000).note, "cuSOLVER"),
            !cusolver_problem().empty());

  emulated::machine.major = 8;
  emulated::machine.minor = 9;
  EXPECT_EQ(taken("settle", Precision::mixed, 1000).name, "cuda");
  const AutoDevice doubles = taken("settle", Precision::double_, 1000);
  EXPECT_EQ(doubles.name, "cpu");
  EXPECT_TRUE(contains(doubles.note, "double precision"));

  emulated::machine = {};
  emulated::machine.devices = 0;
  EXPECT_EQ(taken("settle", Precision::mixed, 1000).name, "cpu");
  EXPECT_EQ(taken("settle", Precision::mixed, 1000).note, "");
}

/// Several devices share the replicas, in the order of their names.
TEST_F(Machines, ShareReplicas) {
  emulated::machine.devices = 3;
  const System system = make_system({"settle", Bath::gla_per_mass}, tip3p(), 7);
  const State start = start_state(system, first_ids(13), kKeptSteps - 4);
  for (const auto& [name, devices] : {std::pair{"cuda:all", std::vector<int>{0, 1, 2}},
                                      {"cuda:0,2", {0, 2}},
                                      {"cuda:1,0", {1, 0}}}) {
    SCOPED_TRACE(name);
    const auto whole = make_engine(system, start, counts_of_pairs(), {"cuda:1", 1});
    const auto split = make_engine(system, start, counts_of_pairs(), {name, 4});
    const std::vector<EnginePart> parts = split->parts();
    ASSERT_EQ(parts.size(), devices.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      EXPECT_TRUE(parts[p].device.ends_with("(cuda:" + std::to_string(devices[p]) + ")"))
          << parts[p].device;
      for (std::size_t q = 0; q < p; ++q) EXPECT_NE(parts[p].device_id, parts[q].device_id);
    }
    expect_same_steps(*whole, *split, true);
  }
  for (const auto& [name, words] : {std::pair{"cuda:0,3", "there is no device cuda:3"},
                                    {"cuda:0,", "unknown device 'cuda:0,'"},
                                    {"cuda:some", "unknown device 'cuda:some'"}}) {
    expect_throws<Error>({words}, [&] { make_engine(system, start, {}, {name, 1}); });
  }
  // Single points use one device.
  EXPECT_THROW(single_point(tip3p(), lattice_cluster(tip3p(), 2, 1), {"cuda:all", 1}), InputError);
  emulated::machine.devices = 0;
  EXPECT_THROW(make_engine(system, start, {}, {"cuda:all", 1}), DeviceError);
}

/// A device that fails ends the run with its message; the other devices are released.
TEST_F(Machines, OneOfSeveralDevicesFails) {
  emulated::machine.devices = 2;
  const System system = make_system({"settle", Bath::gla}, tip3p(), 7);
  const auto engine = make_engine(system, start_state(system, first_ids(6)), {}, {"cuda:all", 1});
  emulated::machine.launch = cudaErrorLaunchFailure;
  engine->begin_advance(2);
  EXPECT_THROW(engine->wait(), DeviceError);
}

/// If one scheme needs the CPU, all run there.
TEST_F(Machines, CompareOnOneDevice) {
  const ScratchFolder folder;
  const Deck deck = load_deck(std::string(TARN_SOURCE_DIR) + "/inputs/water7.toml",
                              {"system.replicas=2", "run.steps=20", "run.equilibration_ps=0"});
  CompareOptions options;
  options.out_dir = folder.file("compare");
  options.threads = 1;
  std::vector<std::string> warnings;
  options.on_message = [&](const Message& message) { warnings.push_back(message.text); };
  const CompareResult result = compare_schemes(deck, {"settle", "zss-stiff:solver=dense"}, options);
  const bool there = cusolver_problem().empty();
  EXPECT_EQ(result.device.find("stands in") != std::string::npos, there) << result.device;
  EXPECT_EQ(std::count(
                warnings.begin(), warnings.end(),
                "not all schemes can run on the GPU, so all of them run on the CPU for comparison"),
            there ? 0 : 1);
}

/// Too little memory is reported with the available amount, and all memory is freed.
TEST_F(Machines, WithLittleMemoryReportTheAmount) {
  const System system = make_system({"zss_structured", Bath::gla}, tip3p(), 129);
  const State start = start_state(system, spread_ids(40));
  make_cuda_engine(system, start, {});
  ASSERT_EQ(emulated::allocated_bytes(), 0u);
  for (std::size_t KiB : {0, 100, 500, 2000, 3000}) {
    emulated::machine.memory = KiB << 10;
    expect_throws<DeviceError>({"not enough memory on the GPU", "fewer replicas"},
                               [&] { make_cuda_engine(system, start, {}); });
    EXPECT_EQ(emulated::allocated_bytes(), 0u) << KiB;
    EXPECT_TRUE(emulated::streams.empty()) << KiB;
  }
}

/// A cluster for which the memory would be too small even alone.
TEST_F(Machines, WithLittleMemoryRefuseLargeClusters) {
  const System system = make_system({"settle", Bath::none}, tip3p(), 300);
  const State start = start_state(system, {0});
  emulated::machine.memory = std::size_t{350} << 10;
  expect_throws<DeviceError>({"one replica of 300 molecules needs", "use --device cpu"},
                             [&] { make_cuda_engine(system, start, {}); });
}

/// tarn check prints the memory of the state of all replicas: that of an engine, to a fifth.
TEST_F(Machines, NeedTheEstimatedMemory) {
  const auto expect_estimate = [](const System& system, int replicas) {
    const std::vector<std::int64_t> ids = spread_ids(replicas);
    const bool has_beads = system.path_integral.beads > 1;
    const auto engine = make_cuda_engine(
        system, has_beads ? ring_start(system, ids) : start_state(system, ids), {});
    const double used = static_cast<double>(emulated::allocated_bytes());
    EXPECT_NEAR(gpu_bytes(system, replicas) / used, 1.0, 0.2) << system.molecules;
  };
  for (const int molecules : {7, 17, 40, 129, 500}) {
    expect_estimate(make_system({"settle", Bath::baoab}, tip3p(), molecules),
                    molecules < 100 ? 16 : 1);
  }
  expect_estimate(make_system({"zss_structured", Bath::gla}, tip3p(), 10), 60);
  expect_estimate(ring_system(32, Bath::baoab, 7), 8);
}

/// Frames are the same in page-locked and pageable memory, and leak none.
TEST_F(Machines, WithoutPageLockedMemoryGiveTheSameFrames) {
  const System system = make_system({"zss_structured", Bath::baoab}, tip3p(), 33);
  const State start = start_state(system, spread_ids(3));
  Frame frames[2];
  for (const bool locks_pages : {true, false}) {
    emulated::machine.locks_pages = locks_pages;
    const auto engine = make_cuda_engine(system, start, {});
    engine->advance(3);
    // Some of the fields first, then all of them.
    engine->snapshot(kPositions, frames[locks_pages]);
    engine->snapshot(kPositions | kVelocities | kEnergies | kConservation, frames[locks_pages]);
  }
  EXPECT_EQ(frames[0].positions_A, frames[1].positions_A);
  EXPECT_EQ(frames[0].velocities_A_per_akma, frames[1].velocities_A_per_akma);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(frames[0].energies[r].potential_kcal_per_mol,
              frames[1].energies[r].potential_kcal_per_mol);
    EXPECT_LT(frames[0].energies[r].potential_kcal_per_mol, 0.0);
  }
}

/// A copy of the state that finds no memory on the device is made at once; without page-locked
/// memory it is the same too.
TEST_F(Machines, WithLittleMemoryGiveTheSameState) {
  const System system = make_system({"settle", Bath::gla}, tip3p(), 7);
  const auto engine = make_cuda_engine(system, start_state(system, spread_ids(9)), {});
  engine->advance(3);
  const State now = engine->state();
  const std::size_t used = emulated::allocated_bytes();
  for (const bool has_memory : {false, true}) {
    emulated::machine.memory = has_memory ? std::size_t{1} << 30 : used + 1000;
    emulated::machine.locks_pages = false;
    const std::int64_t launches = emulated::launches;
    const std::function<State()> copy = engine->begin_state();
    EXPECT_EQ(emulated::launches - launches, has_memory ? 1 : 0);
    const State copied = copy();
    EXPECT_EQ(copied.step, 3);
    EXPECT_EQ(copied.positions_A, now.positions_A);
    EXPECT_EQ(copied.velocities_A_per_akma, now.velocities_A_per_akma);
  }
}

/// With many multiprocessors, clusters are divided into more blocks; the bits are the same.
TEST_F(Machines, WithManyMultiprocessorsGiveTheSameState) {
  for (const int n : {40, 300}) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), n);
    const State start = start_state(system, {0, 5});
    std::unique_ptr<Engine> engines[2];
    for (const int k : {0, 1}) {
      emulated::machine.multiprocessors = k == 0 ? 1 : 132;
      engines[k] = make_cuda_engine(system, start, {});
      engines[k]->advance(4);
    }
    EXPECT_TRUE(same_bits(bits_by_replica(*engines[0]), bits_by_replica(*engines[1]))) << n;
  }
}

/// A failed launch is reported with its location, and with advice if there is some.
TEST_F(Machines, ThatRejectALaunchNameIt) {
  for (const auto& [n, place] :
       {std::pair{7, "(warp_path.cu:"}, {33, "(block_path.cu:"}, {129, "(tile_path.cu:"}}) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), n);
    const State start = start_state(system, {0});
    for (cudaError_t code : {cudaErrorInvalidConfiguration, cudaErrorNoKernelImageForDevice,
                             cudaErrorUnsupportedPtxVersion, cudaErrorIllegalAddress}) {
      emulated::machine.launch = code;
      const std::string what =
          message_of<DeviceError>([&] { make_cuda_engine(system, start, {}); });
      EXPECT_TRUE(contains(what, place));
      EXPECT_EQ(contains(what, "CMAKE_CUDA_ARCHITECTURES"),
                code == cudaErrorNoKernelImageForDevice || code == cudaErrorUnsupportedPtxVersion);
      EXPECT_EQ(contains(what, "CUDA_LAUNCH_BLOCKING"), code == cudaErrorIllegalAddress);
      EXPECT_NO_THROW(make_cuda_engine(system, start, {}));
    }
  }
}

/// CUDA_LAUNCH_BLOCKING=1 disables graphs, whose errors name no kernel; the bits are the same.
TEST_F(Machines, WithBlockingLaunchesNameTheFailedKernel) {
  const System system = make_system({"zss_structured", Bath::gla}, tip3p(), 129);
  const State start = start_state(system, {0, 5});
  const auto with_graphs = make_cuda_engine(system, start, {});
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  const auto engine = make_cuda_engine(system, start, {});
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  with_graphs->advance(9);
  engine->advance(9);
  EXPECT_TRUE(same_bits(bits_by_replica(*with_graphs), bits_by_replica(*engine)));
  emulated::machine.launch = cudaErrorIllegalAddress;
  expect_throws<DeviceError>({"(tile_path.cu:"}, [&] { engine->advance(1); });
}

/// If steps take long an advance has several launches, with the same bits: with heat, with counted
/// distances, and with a stopped replica.
TEST_F(Machines, ThatAreSlowGetShortLaunches) {
  std::size_t turn = 0;
  for (const auto& [scheme, bath, n] : {std::tuple{"zss_structured", Bath::gla_per_mass, 7},
                                        {"settle", Bath::baoab, 7},
                                        {"zss_structured", Bath::baoab_per_mass, 33},
                                        {"shake", Bath::gla, 33}}) {
    for (Precision precision : precisions_of(scheme)) {
      // One precision of each of the large clusters by day.
      if (n > 7 && !covers_everything() && turn++ % 4 != 0) continue;
      SCOPED_TRACE(std::string(scheme) + ", N = " + std::to_string(n) + ", " + name_of(precision));
      const System system = make_system({scheme, bath}, tip3p(), n, precision);
      const PairCountRequest counts{.enabled = true, .r_max_A = 6.0, .bins = 60, .every = 4};
      State start = tallied(start_state(system, spread_ids(5), kKeptSteps - 6));
      // The third one flies apart after a few steps.
      start.velocities_A_per_akma[2 * start.coordinates()] = 200.0;
      const gpu::Path path = gpu::path_of(n);
      const auto launches_of = [&](Engine& engine, int steps) {
        const std::int64_t before = emulated::launches;
        engine.advance(steps);
        return emulated::launches - before;
      };
      emulated::machine = {};
      const auto whole = make_cuda_engine(system, start, counts);
      const double cycles = gpu::cycles_of_step(path, n, 5, {1, 64, 1e9});
      // Room for three steps and a half.
      emulated::machine.clock_kHz = static_cast<int>(3.5e-3 * cycles / gpu::kLongestLaunch_s);
      const auto slow = make_cuda_engine(system, start, counts);
      // Counted steps end a launch, and counting is a separate launch.
      const std::int64_t one_go = launches_of(*whole, 10), pieces = launches_of(*slow, 10);
      EXPECT_EQ(one_go, 6);
      EXPECT_EQ(pieces, 8);
      EXPECT_TRUE(same_bits(bits_by_replica(*whole), bits_by_replica(*slow)));
      Frame a, b;
      whole->snapshot(kPairCounts, a);
      slow->snapshot(kPairCounts, b);
      EXPECT_EQ(a.pair_counts, b.pair_counts);
      EXPECT_EQ(a.pair_samples, b.pair_samples);
      ASSERT_EQ(whole->blow_ups().size(), 1u);
      ASSERT_EQ(slow->blow_ups().size(), 1u);
      EXPECT_EQ(whole->blow_ups()[0].step, slow->blow_ups()[0].step);
      EXPECT_EQ(whole->report().molecule_steps, slow->report().molecule_steps);
      EXPECT_EQ(whole->report().constraint_iterations, slow->report().constraint_iterations);
    }
  }
}

}  // namespace
}  // namespace tarn
