#include <gtest/gtest.h>

#include "cli/doctor_text.hpp"
#include "scratch_folder.hpp"

/// @file
/// What `tarn doctor` would say on machines and of builds that are not this one.

namespace tarn::cli {
namespace {

using test::contains;

TEST(Doctor, TellsTheDriverOfAWorkingGpu) {
  const DeviceProbe probe{
      ProbeStatus::ok, "", "13.1", "13.0", {{0, "NVIDIA H100", "9.0", 132, 80.0}}};
  EXPECT_EQ(text_of(probe),
            "      driver for CUDA up to 13.1\n"
            "      cuda:0 NVIDIA H100, compute capability 9.0, 132 multiprocessors, 80 GiB\n");
}

TEST(Doctor, TellsWhatIsTheMatterOnce) {
  EXPECT_EQ(text_of({ProbeStatus::no_driver, "no driver", "", "13.0", {}}), "      no driver\n");
  EXPECT_EQ(text_of({ProbeStatus::no_device, "no device", "13.1", "13.0", {}}),
            "      no device\n      driver for CUDA up to 13.1\n");
}

TEST(Doctor, TellsHowToGetHdf5) {
  EXPECT_EQ(hdf5_text("1.10.8"), "HDF5: 1.10.8\n");
  EXPECT_TRUE(contains(hdf5_text(""), "install libhdf5-dev and build again"));
}

}  // namespace
}  // namespace tarn::cli
