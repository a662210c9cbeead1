#include "body_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

namespace tarn {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

// Lengths in pixels.
constexpr double kCellWidth = 120.0, kCellHeight = 150.0, kTitle = 44.0, kLabel = 22.0;
constexpr double kHalfEdge = 24.0, kArrow = 62.0, kHead = 11.0;
// Elevation and azimuth of the viewpoint [radians].
constexpr double kElevation = 0.35, kAzimuth = -0.7;
constexpr const char *kFieldColour = "#d00000", *kDipoleColour = "#000000";
// Colours of the faces perpendicular to each axis of the body.
constexpr std::array kFaceColours{"#9ecae1", "#6baed6", "#fdd0a2"};

/// Rows: directions to the right, up and towards the viewer.
Matrix3d view() {
  Matrix3d turn, tilt;
  turn << std::cos(kAzimuth), std::sin(kAzimuth), 0.0, -std::sin(kAzimuth), std::cos(kAzimuth), 0.0,
      0.0, 0.0, 1.0;
  tilt << 1.0, 0.0, 0.0, 0.0, std::sin(kElevation), std::cos(kElevation), 0.0,
      -std::cos(kElevation), std::sin(kElevation);
  return tilt * turn;
}

/// Maps coordinates of the view to the picture, around the centre of a cell.
struct CellCentre {
  double x, y;
  Vector2d at(const Vector3d& seen) const { return {x + seen[0], y - seen[1]}; }
};

std::string arrow(const Vector2d& from, const Vector2d& to, const char* colour) {
  const Vector2d along = to - from;
  const double length = along.norm();
  // An arrow along the line of sight is a point.
  const double head = std::min(kHead, length);
  const Vector2d unit = length > 0.0 ? Vector2d(along / length) : Vector2d(0.0, 0.0);
  const Vector2d neck = to - head * unit, side = 0.45 * head * Vector2d(-unit[1], unit[0]);
  return fmt::format(
      "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" "
      "stroke-width=\"3\"/><polygon points=\"{:.2f},{:.2f} {:.2f},{:.2f} {:.2f},{:.2f}\" "
      "fill=\"{}\"/>\n",
      from[0], from[1], neck[0], neck[1], colour, to[0], to[1], neck[0] + side[0],
      neck[1] + side[1], neck[0] - side[0], neck[1] - side[1], colour);
}

std::string body_svg(const Matrix3d& rotation, const CellCentre& centre) {
  const Matrix3d axes = view() * rotation;
  std::string faces;
  for (int axis = 0; axis < 3; ++axis) {
    const Vector3d a = axes.col((axis + 1) % 3), b = axes.col((axis + 2) % 3);
    // Of two opposite faces, the one that faces the viewer is drawn.
    const Vector3d middle = (axes(2, axis) > 0.0 ? 1.0 : -1.0) * axes.col(axis);
    faces += "<polygon points=\"";
    for (const auto& [i, j] : {std::array{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}) {
      const Vector2d corner = centre.at(kHalfEdge * (middle + i * a + j * b));
      faces += fmt::format("{:.2f},{:.2f} ", corner[0], corner[1]);
    }
    faces += fmt::format("\" fill=\"{}\" stroke=\"#333333\" stroke-width=\"1\"/>\n",
                         kFaceColours[static_cast<std::size_t>(axis)]);
  }
  const Vector3d dipole = axes.col(2);
  const std::string out =
      arrow(centre.at(kHalfEdge * dipole), centre.at(kArrow * dipole), kDipoleColour);
  return dipole[2] > 0.0 ? faces + out : out + faces;
}

std::string text_element(double x, double y, int size, std::string_view text) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{}\">{}</text>\n", x, y, size,
                     text);
}

}  // namespace

std::string bodies_svg(const std::vector<DrawnMotion>& motions, std::string_view title) {
  std::size_t columns = 0;
  for (const DrawnMotion& motion : motions) columns = std::max(columns, motion.bodies.size());
  const double width = kCellWidth * static_cast<double>(columns);
  const double row = kCellHeight + 2.0 * kLabel;
  const double height = kTitle + row * static_cast<double>(motions.size());
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" "
      "text-anchor=\"middle\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height);
  text += text_element(0.5 * width, 26.0, 16, title);
  const Vector3d up = view() * Vector3d(0.0, 0.0, kArrow);
  for (std::size_t m = 0; m < motions.size(); ++m) {
    const double top = kTitle + row * static_cast<double>(m);
    text += text_element(0.5 * width, top + 14.0, 14, motions[m].label);
    for (std::size_t k = 0; k < motions[m].bodies.size(); ++k) {
      const CellCentre body{kCellWidth * (static_cast<double>(k) + 0.5),
                            top + kLabel + 0.5 * kCellHeight};
      const CellCentre field{body.x - 0.43 * kCellWidth, body.y};
      text += arrow(field.at(-0.5 * up), field.at(0.5 * up), kFieldColour);
      text += body_svg(motions[m].bodies[k].rotation, body);
      text +=
          text_element(body.x, top + kLabel + kCellHeight + 8.0, 13, motions[m].bodies[k].label);
    }
  }
  return text + "</svg>\n";
}

}  // namespace tarn
