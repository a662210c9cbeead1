#pragma once

#include <numeric>
#include <utility>

namespace tarn {

/// Halves an interval from whose lower part a condition holds to the point where it ends.
/// @param is_wide of (low, high): whether the interval is to be halved again
/// @param is_lower of a value: whether the condition holds there
/// @return the ends of the last interval
template <class T, class IsWide, class IsLower>
std::pair<T, T> bisect(T low, T high, const IsWide& is_wide, const IsLower& is_lower) {
  while (is_wide(low, high)) {
    const T middle = std::midpoint(low, high);
    if (middle <= low || middle >= high) break;  // neighbouring numbers
    (is_lower(middle) ? low : high) = middle;
  }
  return {low, high};
}

}  // namespace tarn
