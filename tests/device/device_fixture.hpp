#pragma once

#include "engine_parts.hpp"

namespace tarn::test {

/// The name of a device test; those on the emulated GPU (tests/emulated) are named differently.
inline std::string name_of_device(const ::testing::TestParamInfo<std::string>& device) {
#if defined(TARN_TEST_EMULATED)
  if (device.param == "cuda") return "emulated";
#endif
  return device.param;
}

/// What forces of pairs in float are off by, over ReferenceForces::by_roots: the relative error of
/// a reciprocal root, 1.5 2^-24 on the CPU and 2^-22.9 on a GPU (PTX, rsqrt.approx), and all other
/// roundings in its place. These are six of a product, which changes with the root's third power or
/// more (2 2^-24); three of a vector between sites, of numbers up to twice as long as what matters
/// is far away (6 2^-24); and of sums of up to 32 partners, which go up and down (3 2^-24).
inline double float_error_of_roots(const std::string& device) {
  return (device == "cpu" ? 1.5 * 0x1p-24 : std::exp2(-22.9)) + 11.0 * 0x1p-24;
}

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
  /// An engine of several parts on this device.
  std::unique_ptr<Engine> make_parts(const System& system, const State& start, int parts) const {
    if (is_cpu()) return split_on_cpu(system, start, parts, 1);
    std::string devices = "cuda:0";
    for (int part = 1; part < parts; ++part) devices += ",0";
    return make_engine(system, start, counts_of_pairs(), {devices, 1});
  }
};

/// Expects numbers that differ by this share of 1 + |y|. Unknown ones are NaN in both lists.
inline void expect_near(const char* what, const std::vector<double>& x,
                        const std::vector<double>& y, double tolerance = 1e-9) {
  SCOPED_TRACE(what);
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (std::isnan(x[k]) && std::isnan(y[k])) continue;
    EXPECT_NEAR(x[k], y[k], tolerance * (1.0 + std::fabs(y[k]))) << k;
  }
}
template <class Row>
void expect_rows_near(const char* what, const std::vector<Row>& x, const std::vector<Row>& y,
                      double tolerance = 1e-9) {
  EXPECT_FALSE(y.empty()) << what;
  ASSERT_EQ(x.size(), y.size()) << what;
  for (std::size_t r = 0; r < x.size(); ++r) {
    expect_near(what, numbers_of(x[r]), numbers_of(y[r]), tolerance);
  }
}

/// The effect of pairs in float on the accelerations of free atoms, in the norm over all
/// configurations of `size` coordinates each [A/akma^2].
inline double float_error_of_accelerations(const std::string& device, const WaterModel& model,
                                           std::span<const double> positions, std::size_t size) {
  std::vector<double> error;
  for (std::size_t at = 0; at < positions.size(); at += size) {
    const PlainEnergy forces = plain_energy(model, positions.subspan(at, size));
    for (std::size_t k = 0; k < size; ++k) {
      error.push_back(static_cast<double>(forces.by_roots[k]) /
                      std::sqrt(model.mass_Da(static_cast<int>(k) % 9 / 3)));
    }
  }
  return float_error_of_roots(device) * norm(error) / std::sqrt(model.mass_h_Da);
}

}  // namespace tarn::test
