#pragma once

#include <string>
#include <vector>

#include "tarn/io/plot.hpp"

namespace tarn::io {

/// The gnuplot script, including data, that draws the plots to `output_path`.
std::string gnuplot_script(const std::vector<Plot>& plots, PictureFormat format,
                           const std::string& output_path);

}  // namespace tarn::io
