#include "kernels/device_probe.hpp"

#include "testing.hpp"

namespace tarn {
namespace {

#if defined(TARN_HAVE_CUDA)
constexpr bool kBuiltWithCuda = true;
#else
constexpr bool kBuiltWithCuda = false;
#endif

TEST(DeviceProbe, ReportsDevicesOrTheReason) {
  const DeviceProbe probe = probe_devices();
  EXPECT_EQ(probe.status == ProbeStatus::not_built, !kBuiltWithCuda);
  EXPECT_EQ(probe.runtime_version.empty(), !kBuiltWithCuda);
  if (probe.status == ProbeStatus::ok) {
    EXPECT_TRUE(probe.message.empty());
    EXPECT_FALSE(probe.driver_version.empty());
    ASSERT_FALSE(probe.devices.empty());
  } else {
    EXPECT_FALSE(probe.message.empty());
    EXPECT_EQ(probe.message.find('\n'), std::string::npos);
    EXPECT_TRUE(probe.devices.empty());
  }
  int index = 0;
  for (const ProbedDevice& device : probe.devices) {
    EXPECT_EQ(device.index, index++);
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_GT(device.memory_GiB, 0.0);
    EXPECT_NE(device.compute_capability.find('.'), std::string::npos);
  }
}

TEST(DeviceProbe, IsRepeatable) {
  const DeviceProbe first = probe_devices();
  const DeviceProbe second = probe_devices();
  EXPECT_EQ(first.status, second.status);
  EXPECT_EQ(first.message, second.message);
  EXPECT_EQ(first.devices.size(), second.devices.size());
}

TEST(DeviceProbe, CudaDevice) {
  const DeviceProbe probe = probe_devices();
  if (probe.status == ProbeStatus::ok) return;
  const char* required = std::getenv("TARN_REQUIRE_CUDA");
  if (required != nullptr && required[0] == '1') FAIL() << probe.message;
  GTEST_SKIP() << probe.message;
}

}  // namespace
}  // namespace tarn
