#pragma once

#include <string>
#include <vector>

#include "tarn/io/plot.hpp"

namespace tarn::io {

/// The whole gnuplot program, data included, that draws the plots into `output_path`.
std::string gnuplot_script(const std::vector<Plot>& plots, PictureFormat format,
                           const std::string& output_path);

}  // namespace tarn::io
