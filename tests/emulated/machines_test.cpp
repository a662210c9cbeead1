#include <cuda_runtime.h>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "engine_fixtures.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"

/// @file
/// Machines that lack something: the search for devices, or the engine, says what.

namespace tarn {
namespace {

using namespace test;

class Machines : public ::testing::Test {
 protected:
  void TearDown() override { emulated::machine = {}; }
  /// The probe of a machine, whose message is also that of a run on it.
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

TEST_F(Machines, AreToldApart) {
  EXPECT_EQ(probe(13000, cudaSuccess, 1).status, ProbeStatus::ok);
  EXPECT_EQ(probe(0, cudaErrorInsufficientDriver, 0).status, ProbeStatus::no_driver);
  const DeviceProbe old = probe(11080, cudaErrorInsufficientDriver, 0);
  EXPECT_EQ(old.status, ProbeStatus::driver_too_old);
  EXPECT_EQ(old.driver_version, "11.8");
  EXPECT_EQ(probe(13000, cudaErrorNoDevice, 0).status, ProbeStatus::no_device);
  EXPECT_EQ(probe(13000, cudaSuccess, 0).status, ProbeStatus::no_device);
  EXPECT_EQ(probe(13000, cudaErrorMemoryAllocation, 0).status, ProbeStatus::failed);
}

/// Dense solves need cuSOLVER; where it is missing nothing else is refused.
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

/// Too little memory is told with what there is, and what was taken is given back.
TEST_F(Machines, WithLittleMemorySayHowMuch) {
  const System system = make_system({"zss_structured", Bath::gla}, tip3p(), 129);
  const State start = start_state(system, spread_ids(40));
  make_cuda_engine(system, start, {});
  ASSERT_EQ(emulated::allocated_bytes(), 0u);
  for (std::size_t KiB : {0, 100, 500, 2000, 3000}) {
    emulated::machine.memory = KiB << 10;
    try {
      make_cuda_engine(system, start, {});
      ADD_FAILURE() << KiB;
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("too little memory on the GPU"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("fewer replicas"), std::string::npos);
    }
    EXPECT_EQ(emulated::allocated_bytes(), 0u) << KiB;
    EXPECT_TRUE(emulated::streams.empty()) << KiB;
  }
}

/// A launch that fails is told with its place, and with a cure where there is one.
TEST_F(Machines, ThatRefuseALaunchSayWhich) {
  for (const auto& [n, place] :
       {std::pair{7, "(warp_path.cu:"}, {33, "(block_path.cu:"}, {129, "(tile_path.cu:"}}) {
    const System system = make_system({"zss_structured", Bath::gla}, tip3p(), n);
    const State start = start_state(system, {0});
    for (cudaError_t code : {cudaErrorInvalidConfiguration, cudaErrorNoKernelImageForDevice,
                             cudaErrorIllegalAddress}) {
      emulated::machine.launch = code;
      try {
        make_cuda_engine(system, start, {});
        ADD_FAILURE() << n;
      } catch (const DeviceError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find(place), std::string::npos) << what;
        EXPECT_EQ(what.find("CMAKE_CUDA_ARCHITECTURES") != std::string::npos,
                  code == cudaErrorNoKernelImageForDevice);
        EXPECT_EQ(what.find("CUDA_LAUNCH_BLOCKING") != std::string::npos,
                  code == cudaErrorIllegalAddress);
      }
      EXPECT_NO_THROW(make_cuda_engine(system, start, {}));
    }
  }
}

/// CUDA_LAUNCH_BLOCKING=1: no graphs, which do not tell what fails in them, and the same bits.
TEST_F(Machines, WithBlockingLaunchesSayWhichKernelOfAStepFails) {
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
  try {
    engine->advance(1);
    ADD_FAILURE();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("(tile_path.cu:"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tarn
