#pragma once

#include <string_view>

/// @file
/// The files of data/many_body, which the build embeds.

namespace tarn::many_body::data {

extern const std::string_view monomer, charges, two_body, three_body;

}  // namespace tarn::many_body::data
