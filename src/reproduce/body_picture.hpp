#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace tarn {

/// A magnetised body at a time.
struct DrawnBody {
  Eigen::Matrix3d rotation;  ///< of the body; drawn as it is where it is no rotation
  std::string label;
};
/// One motion, a row of the picture.
struct DrawnMotion {
  std::string label;
  std::vector<DrawnBody> bodies;
};

/// An SVG of cubes, side by side and motion below motion. Each has its dipole as a black arrow
/// along its third axis, and beside it the field as a red one upwards.
std::string bodies_svg(const std::vector<DrawnMotion>& motions, std::string_view title);

}  // namespace tarn
