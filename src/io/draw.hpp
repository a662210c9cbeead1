#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tarn/observer.hpp"

/// @file
/// Pictures of tables and structures, drawn by the Python script python/tarn/plots.py, which is
/// part of the library. It runs with the first Python that has NumPy and matplotlib: that of
/// use_python(), `python3` in PATH or /usr/bin/python3. The environment variable TARN_PICTURES
/// selects another one.

namespace tarn::io {

enum class PictureFormat { svg, png };
using PictureFormats = std::vector<PictureFormat>;

/// "svg" or "png".
std::string_view name_of(PictureFormat format);

/// The script that draws, a program with command line options.
std::string_view plot_script();
/// The script python/tarn/reports.py, which compares runs and uses the other one.
std::string_view report_script();

/// Sets the interpreter that is tried first.
void use_python(std::string path);

/// The interpreter that draws, or an empty string.
std::string python_with_matplotlib();

/// Draws the pictures of all tables in the folder of a run, a comparison or an analysis, next to
/// the tables. A picture that cannot be drawn is a message of the result, not an error.
Pictures draw_pictures(const std::string& folder, const PictureFormats& formats);
/// As SVG and PNG, at the end of a run; nothing without tables or with TARN_PICTURES=off.
Pictures draw_pictures(const std::string& folder);

/// Draws a table, or the structures of an XYZ file.
/// @param picture path that ends with .svg or .png
Pictures draw_picture(const std::string& file, const std::string& picture);

struct ScriptResult {
  int exit_code = 0;
  std::string output, errors;
};
/// Runs report_script(). @throws IoError without a suitable Python
ScriptResult report(std::vector<std::string> arguments);

}  // namespace tarn::io
