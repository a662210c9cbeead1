#pragma once

#include <string>

#include <gtest/gtest.h>

namespace tarn::test {

/// The name of a device test; those on the emulated GPU (tests/emulated) are named differently.
inline std::string name_of_device(const ::testing::TestParamInfo<std::string>& device) {
#if defined(TARN_TEST_EMULATED)
  if (device.param == "cuda") return "emulated";
#endif
  return device.param;
}

}  // namespace tarn::test
