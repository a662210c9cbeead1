#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Plots as SVG and PNG, drawn by gnuplot if it is installed.

namespace tarn::io {

/// Default colour "#rrggbb" of the curve with that index.
std::string palette_colour(std::size_t place);

/// One curve. Equal curves give the same SVG, byte for byte.
struct Series {
  /// steps: a histogram with x at the bin centres; marked_line: a line with a point at each value;
  /// sticks: a vertical line from zero to each value, without spread.
  enum class Style { line, points, steps, marked_line, sticks };

  std::string label;  ///< empty: not in the legend
  std::vector<double> x;
  std::vector<double> y;
  /// Lower and upper ends of the spread of y, or both empty: a band for lines and steps, error bars
  /// for points.
  std::vector<double> low;
  std::vector<double> high;
  Style style = Style::line;
  /// A label beside each value, or empty.
  std::vector<std::string> marks{};
  std::string colour{};  ///< "#rrggbb"; empty: palette_colour() of its index
  bool dashed = false;
  /// Ends of the spread of x, or both empty: error bars for points and marked lines.
  std::vector<double> x_low{}, x_high{};

  /// Sets the spread of y to y - error .. y + error.
  void set_error(std::span<const double> error);
  /// Sets the spread of x in the same way. Errors that are not finite count as 0; there are no bars
  /// if all errors are 0.
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
  double shaded_until = 0.0;  ///< x up to which the background is grey; 0: none
  int height_pixels = 0;      ///< of this plot among several; 0: the default
};

enum class PictureFormat { svg, png };
using PictureFormats = std::vector<PictureFormat>;
inline const PictureFormats kAllPictures{PictureFormat::svg, PictureFormat::png};

/// ".svg" or ".png".
std::string_view extension_of(PictureFormat format);

/// The result of drawing.
struct Drawing {
  std::vector<std::string> paths;  ///< pictures that were drawn
  std::string warning;             ///< why there are none, and what to do; otherwise empty
};

/// Whether gnuplot was found.
bool can_draw();

/// Draws `<path>.svg`, `<path>.png` or both, each atomically. The size is 900 x 560 pixels, and
/// wider if the legend is beside the axes. Points that are not finite, or not positive on a
/// logarithmic axis, are left out. If gnuplot is missing or fails, the result is a warning and no
/// picture, not an error.
/// @param path_without_extension in an existing folder
/// @throws IoError if a finished picture cannot be moved to its final name
Drawing draw(const Plot& plot, const std::string& path_without_extension,
             const PictureFormats& formats = kAllPictures);

/// Draws several plots one above the other, under the title of the first.
Drawing draw(const std::vector<Plot>& plots, const std::string& path_without_extension,
             const PictureFormats& formats = kAllPictures);

}  // namespace tarn::io
