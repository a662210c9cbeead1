#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

/// @file
/// Limits with few digits, for advice: a value that is rounded to the wrong side breaks its
/// promise.

namespace tarn {

/// A number that is not above x > 0 ("at most").
inline std::string rounded_down(double x, int digits = 2) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - (digits - 1));
  return fmt::format("{:.15g}", unit * std::floor(x / unit * (1.0 + 1e-14)));
}
/// A number that is not below x > 0 ("at least").
inline std::string rounded_up(double x, int digits = 2) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - (digits - 1));
  return fmt::format("{:.15g}", unit * std::ceil(x / unit * (1.0 - 1e-14)));
}

}  // namespace tarn
