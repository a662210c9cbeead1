#pragma once

#include "testing.hpp"

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

}  // namespace tarn::test
