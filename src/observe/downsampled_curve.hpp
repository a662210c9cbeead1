#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tarn/io/plot.hpp"

namespace tarn {

/// A curve reduced to at most 1024 points: when it is full, neighbours are merged, and at the end
/// an incomplete point with the one before. The line shows the means, the band the minima and
/// maxima.
class DownsampledCurve {
 public:
  static constexpr std::size_t kMost = 1024;

  /// @param low, high band of this point around y
  void add(double x, double y, double low, double high);
  io::Series series(const std::string& label) const;

 private:
  struct Point {
    double count = 0.0;
    double x = 0.0;  // sums
    double y = 0.0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
  };
  static void merge(Point& into, const Point& other);

  double points_each_ = 1.0;
  std::vector<Point> points_;
};

/// Averages neighbouring points into at most 128, to distinguish crossing curves. The last average
/// contains the remainder.
void smooth(io::Series& curve);

}  // namespace tarn
