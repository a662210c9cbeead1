#include "gnuplot_script.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace tarn::io {
namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 560;
constexpr int kHeightOfEachOfMany = 250;

// Okabe and Ito's palette: told apart by readers with any kind of colour vision.
constexpr std::array<std::string_view, 7> kPalette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#000000"};

std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\n') continue;
    result += c;
    if (c == '\'') result += c;
  }
  return result + '\'';
}

std::string_view colour(std::size_t series) { return kPalette[series % kPalette.size()]; }

bool has_spread(const Series& series) { return series.low.size() == series.y.size(); }

bool can_show(const Plot& plot, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!plot.log_x || x > 0.0) &&
         (!plot.log_y || y > 0.0);
}

/// Lower end of a spread; on a logarithmic axis it cannot go below zero.
double shown_low(const Plot& plot, const Series& series, std::size_t i) {
  return plot.log_y && series.low[i] <= 0.0 ? series.y[i] * 1e-3 : series.low[i];
}

/// A data block `$name` with columns x y low high.
std::string data_block(const Plot& plot, const Series& series, const std::string& name) {
  std::string text = fmt::format("${} << EOD\n", name);
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!can_show(plot, series.x[i], series.y[i])) continue;
    fmt::format_to(out, "{:.9g} {:.9g}", series.x[i], series.y[i]);
    if (has_spread(series)) {
      fmt::format_to(out, " {:.9g} {:.9g}", shown_low(plot, series, i), series.high[i]);
    }
    text += '\n';
  }
  return text + "EOD\n";
}

bool is_empty(const Plot& plot, const Series& series) {
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (can_show(plot, series.x[i], series.y[i])) return false;
  }
  return true;
}

/// The parts of the plot command for one series: its spread, then the curve over it.
void add_commands(const Series& series, const std::string& name, std::size_t index,
                  std::vector<std::string>& bands, std::vector<std::string>& curves) {
  const std::string title =
      series.label.empty() ? "notitle" : fmt::format("title {}", quoted(series.label));
  const std::string_view rgb = colour(index);
  if (series.style == Series::Style::points) {
    curves.push_back(fmt::format("${} using {} lw 1.5 pt 7 ps 0.6 lc rgb '{}' {}", name,
                                 has_spread(series) ? "1:2:3:4 with yerrorbars" : "1:2 with points",
                                 rgb, title));
    return;
  }
  if (has_spread(series)) {
    bands.push_back(fmt::format(
        "${} using 1:3:4 with filledcurves fill solid 0.22 noborder lc rgb '{}' notitle", name,
        rgb));
  }
  curves.push_back(fmt::format("${} using 1:2 with {} lw 2 lc rgb '{}' {}", name,
                               series.style == Series::Style::steps ? "histeps" : "lines", rgb,
                               title));
}

std::string range_command(char axis, const std::optional<std::array<double, 2>>& range) {
  if (!range) return fmt::format("set {}range [*:*]\n", axis);
  return fmt::format("set {}range [{:.9g}:{:.9g}]\n", axis, (*range)[0], (*range)[1]);
}

std::string axes_commands(const Plot& plot, bool has_labels) {
  std::string text;
  text += plot.log_x ? "set logscale x\nset format x '1e%+T'\n"
                     : "unset logscale x\nset format x '%g'\n";
  text += plot.log_y ? "set logscale y\nset format y '1e%+T'\n"
                     : "unset logscale y\nset format y '%g'\n";
  text += range_command('x', plot.x_range) + range_command('y', plot.y_range);
  text += fmt::format("set ylabel {} offset -1,0\n", quoted(plot.y_label));
  text += has_labels ? "set key top right Right samplen 2 spacing 1.25 textcolor rgb '#333333'\n"
                     : "unset key\n";
  return text;
}

std::string plot_command(const Plot& plot, std::size_t panel) {
  std::vector<std::string> bands;
  std::vector<std::string> curves;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (is_empty(plot, plot.series[i])) continue;
    add_commands(plot.series[i], fmt::format("p{}s{}", panel, i), i, bands, curves);
  }
  bands.insert(bands.end(), curves.begin(), curves.end());
  if (bands.empty()) return "plot [0:1] [0:1] NaN notitle\n";
  return fmt::format("plot {}\n", fmt::join(bands, ", \\\n  "));
}

std::string header(PictureFormat format, std::size_t panels, const std::string& output_path) {
  const int height = panels == 1 ? kHeight : kHeightOfEachOfMany * static_cast<int>(panels) + 60;
  const std::string terminal =
      format == PictureFormat::svg
          ? fmt::format(
                "svg noenhanced size {},{} fixed rounded background '#ffffff' "
                "font 'Helvetica,Arial,DejaVu Sans,sans-serif,14'",
                kWidth, height)
          : fmt::format(
                "pngcairo noenhanced size {},{} rounded background '#ffffff' "
                "font 'DejaVu Sans,11'",
                kWidth, height);
  return fmt::format(
      "set encoding utf8\n"
      "set terminal {}\n"
      "set output {}\n"
      "set border 3 lc rgb '#555555' lw 1\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid back lt 1 lc rgb '#e6e6e6' lw 0.8\n"
      "set lmargin 12\n"
      "set rmargin 3\n"
      "set bmargin {}\n",
      terminal, quoted(output_path), panels == 1 ? 4.2 : 3.2);
}

}  // namespace

std::string gnuplot_script(const std::vector<Plot>& plots, PictureFormat format,
                           const std::string& output_path) {
  // SVG counts in pixels, cairo in points.
  const int title_size = format == PictureFormat::svg ? 17 : 13;
  std::string text = header(format, plots.size(), output_path);
  for (std::size_t panel = 0; panel < plots.size(); ++panel) {
    for (std::size_t i = 0; i < plots[panel].series.size(); ++i) {
      text += data_block(plots[panel], plots[panel].series[i], fmt::format("p{}s{}", panel, i));
    }
  }
  if (plots.size() > 1) {
    text += fmt::format("set multiplot layout {},1 title {} font ',{}'\n", plots.size(),
                        quoted(plots[0].title), title_size);
  }
  for (std::size_t panel = 0; panel < plots.size(); ++panel) {
    const Plot& plot = plots[panel];
    bool has_labels = false;
    for (const Series& series : plot.series) has_labels = has_labels || !series.label.empty();
    if (plots.size() == 1)
      text += fmt::format("set title {} font ',{}'\n", quoted(plot.title), title_size);
    // Plots above each other share their x axis; only the last one names it.
    text += fmt::format("set xlabel {}\n", panel + 1 == plots.size() ? quoted(plot.x_label) : "''");
    text += axes_commands(plot, has_labels);
    text += plot_command(plot, panel);
  }
  if (plots.size() > 1) text += "unset multiplot\n";
  return text + "set output\n";
}

}  // namespace tarn::io
