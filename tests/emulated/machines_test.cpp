#include <cuda_runtime.h>

#include <gtest/gtest.h>

#include "engine_fixtures.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"

/// @file
/// Machines that lack something: the search for devices says what.

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

}  // namespace
}  // namespace tarn
