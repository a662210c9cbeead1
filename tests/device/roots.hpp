#pragma once

#include <cstdint>

namespace tarn::test {

/// Result of a test of a function on the first device.
struct RootErrors {
  std::int64_t looked_at = 0;
  std::int64_t beyond = 0;  ///< number of results with an error above the bound
  std::uint64_t first = 0;  ///< the bits of the smallest of these
};

/// sqrt_in_range() of all floats between 1e-30 and 1e30, and of 0, against the rounded root.
RootErrors errors_of_float_roots();
/// rsqrt() of the same floats (less 0), which may be off by a part of `bound`.
RootErrors errors_of_float_reciprocals(double bound);
/// rsqrt() of doubles of all exponents between 1e-290 and 1e290, each with many mantissas.
RootErrors errors_of_double_reciprocals(double bound);

}  // namespace tarn::test
