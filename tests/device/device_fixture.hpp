#pragma once

#include "device_names.hpp"
#include "engine_fixtures.hpp"

namespace tarn::test {

/// Tests on the device of this name. They are skipped if there is no such device, and fail with
/// TARN_REQUIRE_CUDA=1.
class DeviceTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const System system = make_system({"zss_structured", Bath::none}, tip3p(), 2);
    try {
      make_engine(system, start_state(system, {0}), {}, {GetParam(), 1});
    } catch (const DeviceError& error) {
      // The message must name the requested device.
      EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos) << error.what();
      const char* required = std::getenv("TARN_REQUIRE_CUDA");
      if (is_cpu() || (required != nullptr && std::string(required) == "1")) FAIL() << error.what();
      GTEST_SKIP() << error.what();
    }
  }
  bool is_cpu() const { return GetParam() == "cpu"; }
};

}  // namespace tarn::test
