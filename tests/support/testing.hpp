#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <source_location>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"

/// @file
/// What most tests use: the standard library, GoogleTest, files, messages and bounds.

namespace tarn::test {

/// Largest difference between two lists of numbers; infinity if their lengths differ or are 0.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Expects all parts in a text.
inline void expect_parts_of(const std::string& text, std::initializer_list<std::string_view> parts,
                            std::source_location where = std::source_location::current()) {
  for (const std::string_view part : parts) {
    if (text.find(part) != std::string::npos) continue;
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << "'" << part << "' is not in:\n"
        << text;
  }
}

/// Expects that what() throws an E with all parts in its message.
template <class E, class F>
void expect_throws(std::initializer_list<std::string_view> parts, const F& what,
                   std::source_location where = std::source_location::current()) {
  expect_parts_of(message_of<E>(what), parts, where);
}

}  // namespace tarn::test
