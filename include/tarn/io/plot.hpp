#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Pictures as SVG and PNG, drawn by gnuplot where it is installed.

namespace tarn::io {

/// "#rrggbb" of the curve at that place where it names none.
std::string palette_colour(std::size_t place);

/// One curve. The same values in the same order give the same SVG, byte for byte.
struct Series {
  /// steps: a histogram with x at the bin centres; marked_line: a line with a point at each value;
  /// sticks: from zero to each value, without spread.
  enum class Style { line, points, steps, marked_line, sticks };

  std::string label;  ///< empty: not in the legend
  std::vector<double> x;
  std::vector<double> y;
  /// Both empty, or the spread about y: a band for lines and steps, bars for points.
  std::vector<double> low;
  std::vector<double> high;
  Style style = Style::line;
  /// Empty, or what is written beside each value.
  std::vector<std::string> marks{};
  std::string colour{};  ///< "#rrggbb"; empty: one by the place among the curves
  bool dashed = false;
  /// Both empty, or the spread about x: bars, for points and marked lines.
  std::vector<double> x_low{}, x_high{};

  /// Sets the spread to y - error .. y + error.
  void set_error(std::span<const double> error);
  /// Sets the spread about x likewise. An error that is not finite is none, and there are no bars
  /// where there is no error.
  void set_x_error(std::span<const double> error);
};

/// One set of axes. Labels carry units.
struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
  std::optional<std::array<double, 2>> x_range;
  std::optional<std::array<double, 2>> y_range;
  std::vector<Series> series;
  double shaded_until = 0.0;  ///< x up to which the ground is grey; 0: nowhere
  int height_pixels = 0;      ///< of this plot among several; 0: the usual
};

enum class PictureFormat { svg, png };
using PictureFormats = std::vector<PictureFormat>;
inline const PictureFormats kAllPictures{PictureFormat::svg, PictureFormat::png};

/// ".svg" or ".png".
std::string_view extension_of(PictureFormat format);

/// What came of drawing.
struct Drawing {
  std::vector<std::string> paths;  ///< pictures that now exist
  std::string warning;             ///< why there are none, and what to do; else empty
};

/// Whether gnuplot can be found.
bool can_draw();

/// Draws `<path>.svg` and `<path>.png`, or one of them, 900 x 560 pixels and wider where the legend
/// stands beside the axes, each atomically. Points that are not finite, or not positive on a
/// logarithmic axis, are left out. Never fails because of gnuplot: without it, or when it fails,
/// there is a warning and no picture.
/// @param path_without_extension in an existing folder
/// @throws IoError when a finished picture cannot be put in its place
Drawing draw(const Plot& plot, const std::string& path_without_extension,
             const PictureFormats& formats = kAllPictures);

/// The same for several plots, one above the other; the title of the first stands above all.
Drawing draw(const std::vector<Plot>& plots, const std::string& path_without_extension,
             const PictureFormats& formats = kAllPictures);

}  // namespace tarn::io
