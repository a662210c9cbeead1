#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace tarn {

/// A magnetised body at one time.
struct DrawnBody {
  Eigen::Matrix3d rotation;  ///< of the body; matrices that are not orthogonal are drawn distorted
  std::string label;
};
/// One motion: a row of the picture.
struct DrawnMotion {
  std::string label;
  std::vector<DrawnBody> bodies;
};

/// An SVG of cubes, one row per motion. Each cube has its dipole as a black arrow along its third
/// axis, and beside it the field as a red arrow that points up.
std::string bodies_svg(const std::vector<DrawnMotion>& motions, std::string_view title);

}  // namespace tarn
