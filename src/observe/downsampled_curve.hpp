#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tarn/io/plot.hpp"

namespace tarn {

/// A curve of any number of points, kept as at most 1024: neighbours are merged as more come, the
/// line goes through the means and the band from the lowest to the highest value.
class DownsampledCurve {
 public:
  static constexpr std::size_t kMost = 1024;

  /// @param low @param high spread of this point about y
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

}  // namespace tarn
