#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/compare.hpp"

/// @file
/// Checks of `--steps` and `--reference`.

namespace tarn {

/// @param key key of the step in [integrator], which no scheme may set itself
/// @param unit " fs", or empty
/// @throws InputError if a step is not greater than 0 or given twice, or if a scheme sets its step
void check_steps(const std::vector<std::string>& schemes, const CompareOptions& options,
                 std::string_view key, std::string_view unit);

struct ReferenceScheme {
  std::string scheme;          ///< without the step
  std::optional<double> step;  ///< if given; it must be the last key
};
/// Parses `--reference`. @throws InputError
ReferenceScheme reference_scheme(const std::string& spec, std::string_view key,
                                 std::string_view unit);

}  // namespace tarn
