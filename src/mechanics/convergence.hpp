#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "tarn/core/error.hpp"

/// @file
/// Convergence of the iterations of implicit methods.

namespace tarn::mechanics {

inline constexpr int kMostIterations = 60;
/// Relative change below which an iteration has converged.
inline constexpr double kRoundOff = 2e-15;

/// @param what subject of the message
/// @param change last relative change
[[noreturn]] inline void throw_not_converged(
    const char* what, double change, const char* iterations = "iterations of Newton's method") {
  throw NumericalError(std::string(what) + " did not converge in " +
                       std::to_string(kMostIterations) + " " + iterations +
                       "; the last relative change was " + three_digits(change) +
                       ". A smaller step may help");
}

/// A change relative to a size, which may be 0.
inline double relative(double change, double size) {
  return change / std::max(size, std::numeric_limits<double>::min());
}

}  // namespace tarn::mechanics
