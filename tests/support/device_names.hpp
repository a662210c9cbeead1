#pragma once

#include <string>

#include <gtest/gtest.h>

namespace tarn::test {

/// The name of a test of a device. On a CPU that stands in for a GPU (tests/emulated) nobody is to
/// take it for a test on a GPU.
inline std::string name_of_device(const ::testing::TestParamInfo<std::string>& device) {
#if defined(TARN_TEST_EMULATED)
  if (device.param == "cuda") return "emulated";
#endif
  return device.param;
}

}  // namespace tarn::test
