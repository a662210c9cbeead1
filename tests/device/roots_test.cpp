#include "device/roots.hpp"

#include "kernels/device_probe.hpp"
#include "testing.hpp"

/// @file
/// Roots on a GPU; its instructions cannot be emulated.

namespace tarn {
namespace {

class DeviceRoots : public ::testing::Test {
 protected:
  void SetUp() override {
    const DeviceProbe probe = probe_devices();
    if (probe.status == ProbeStatus::ok) return;
    const char* required = std::getenv("TARN_REQUIRE_CUDA");
    if (required != nullptr && required[0] == '1') FAIL() << probe.message;
    GTEST_SKIP() << probe.message;
  }
  static void expect_none(const test::RootErrors& errors) {
    EXPECT_EQ(errors.beyond, 0) << "of " << errors.looked_at << "; the first has the bits 0x"
                                << std::hex << errors.first;
  }
};

#if defined(TARN_HAVE_CUDA)
/// Every radius of the noise has the bits of the CPU.
TEST_F(DeviceRoots, OfFloatsAreRounded) { expect_none(test::errors_of_float_roots()); }

/// What bounds of forces count with: PTX has it for rsqrt.approx.
TEST_F(DeviceRoots, ReciprocalsOfFloatsAreGoodTo23Bits) {
  // And the roundings of the error itself.
  expect_none(test::errors_of_float_reciprocals(std::exp2(-22.9) + 0x1p-52));
}

/// Half a unit of the last place, at most 2^-53 of the number, for the last operation, and half of
/// what the rounded square of the estimate is off by; what the series leaves out of an estimate of
/// 2^-19 is 2^-58, and the error itself is rounded.
TEST_F(DeviceRoots, ReciprocalsOfDoublesAreGoodToTheLastBitButOne) {
  expect_none(test::errors_of_double_reciprocals(1.5 * 0x1p-53 + 0x1p-57));
}
#else
TEST_F(DeviceRoots, NeedCuda) { FAIL() << "a device was found without CUDA"; }
#endif

}  // namespace
}  // namespace tarn
