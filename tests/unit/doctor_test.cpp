#include <gtest/gtest.h>

#include "cli/doctor_text.hpp"

/// @file
/// The output of `tarn doctor` on other machines and for other builds.

namespace tarn::cli {
namespace {

TEST(Doctor, PrintsTheDriverOfAWorkingGpu) {
  const DeviceProbe probe{
      ProbeStatus::ok, "", "13.1", "13.0", {{0, "NVIDIA H100", "9.0", 132, 80.0}}};
  EXPECT_EQ(probe_text(probe),
            "      the driver supports CUDA up to 13.1\n"
            "      cuda:0 NVIDIA H100, compute capability 9.0, 132 multiprocessors, 80 GiB\n");
}

TEST(Doctor, PrintsAProblemOnce) {
  EXPECT_EQ(probe_text({ProbeStatus::no_driver, "no driver", "", "13.0", {}}), "      no driver\n");
  EXPECT_EQ(probe_text({ProbeStatus::no_device, "no device", "13.1", "13.0", {}}),
            "      no device\n      the driver supports CUDA up to 13.1\n");
}

}  // namespace
}  // namespace tarn::cli
