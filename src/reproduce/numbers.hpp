#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace tarn {

/// The value below which this share of the values lies; 0 for no values.
double quantile_of(std::vector<double> values, double share);
/// The middle value, or the mean of the two middle values.
double median_of(std::vector<double> values);
/// The largest absolute value.
double largest_of(std::span<const double> values);

/// Root mean square of differences from a reference, relative to that of the reference.
class RelativeRms {
 public:
  void add(std::span<const double> values, std::span<const double> reference) {
    for (std::size_t c = 0; c < std::min(values.size(), reference.size()); ++c) {
      difference_ += (values[c] - reference[c]) * (values[c] - reference[c]);
      size_ += reference[c] * reference[c];
    }
  }
  double value() const { return std::sqrt(difference_ / size_); }

 private:
  double difference_ = 0.0, size_ = 0.0;
};

inline double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

}  // namespace tarn
