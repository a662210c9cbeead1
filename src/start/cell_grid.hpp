#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <Eigen/Core>

namespace tarn::start {

/// A cell list: points in a box, sorted into cells as wide as the largest distance of neighbours.
class CellGrid {
 public:
  /// @param low, high corners of the box; points outside belong to the cells at its faces
  /// @param distance largest distance of neighbours
  CellGrid(const Eigen::Vector3d& low, const Eigen::Vector3d& high, double distance) : low_(low) {
    constexpr double kMaxCells = 256.0;  // along an axis
    for (int k = 0; k < 3; ++k) {
      const double extent = std::max(high[k] - low[k], distance);
      width_[k] = std::max(distance, extent / kMaxCells);
      cells_[k] = std::max(1, static_cast<int>(extent / width_[k]) + 1);
    }
    first_.assign(static_cast<std::size_t>(cells_[0]) * cells_[1] * cells_[2], -1);
  }

  /// Adds a point; points count from 0.
  void add(const Eigen::Vector3d& x) {
    int& first = first_[index(cell(x))];
    next_.push_back(first);
    first = static_cast<int>(next_.size()) - 1;
  }

  /// Calls visit(point) for all points within the distance of x, and for some that are farther
  /// away. Stops and returns false as soon as visit() returns false.
  template <class Visit>
  bool visit_near(const Eigen::Vector3d& x, const Visit& visit) const {
    const std::array<int, 3> c = cell(x);
    std::array<int, 3> d;
    for (d[0] = std::max(c[0] - 1, 0); d[0] <= std::min(c[0] + 1, cells_[0] - 1); ++d[0]) {
      for (d[1] = std::max(c[1] - 1, 0); d[1] <= std::min(c[1] + 1, cells_[1] - 1); ++d[1]) {
        for (d[2] = std::max(c[2] - 1, 0); d[2] <= std::min(c[2] + 1, cells_[2] - 1); ++d[2]) {
          for (int i = first_[index(d)]; i >= 0; i = next_[static_cast<std::size_t>(i)]) {
            if (!visit(i)) return false;
          }
        }
      }
    }
    return true;
  }

 private:
  std::array<int, 3> cell(const Eigen::Vector3d& x) const {
    std::array<int, 3> c;
    for (int k = 0; k < 3; ++k) {
      const double at = std::floor((x[k] - low_[k]) / width_[k]);
      c[k] = static_cast<int>(std::clamp(at, 0.0, static_cast<double>(cells_[k] - 1)));
    }
    return c;
  }
  std::size_t index(const std::array<int, 3>& c) const {
    return (static_cast<std::size_t>(c[0]) * cells_[1] + c[1]) * cells_[2] + c[2];
  }

  Eigen::Vector3d low_, width_;
  std::array<int, 3> cells_;
  std::vector<int> first_;  // first point of each cell, or -1
  std::vector<int> next_;   // next point in the same cell, or -1
};

}  // namespace tarn::start
