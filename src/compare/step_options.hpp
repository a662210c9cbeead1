#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/compare.hpp"

/// @file
/// What `--steps` and `--reference` say.

namespace tarn {

/// @param key of the step in [integrator], which no scheme may have itself
/// @param unit " fs", or nothing
/// @throws InputError where a step is not greater than 0 or named twice, and of a scheme with a
/// step of its own
void check_steps(const std::vector<std::string>& schemes, const CompareOptions& options,
                 std::string_view key, std::string_view unit);

struct ReferenceScheme {
  std::string scheme;          ///< without its step
  std::optional<double> step;  ///< if it has one, which stands last
};
/// @throws InputError
ReferenceScheme reference_scheme(const std::string& spec, std::string_view key,
                                 std::string_view unit);

}  // namespace tarn
