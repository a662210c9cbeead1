#include "gnuplot_script.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tarn::io {
namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 560;
constexpr int kHeightOfEachOfMany = 250;
constexpr int kHeightOfTitle = 40;
constexpr int kHeightBelow = 20;  // below several plots, for the label of the last axis
/// With more curves the legend is beside the axes instead of above them. It never covers data.
constexpr std::size_t kMostAbove = 4;
constexpr double kPixelsPerLetter = 8.5;
// Sizes that gnuplot uses for legends and labels in SVG; those in PNG are slightly smaller.
constexpr double kPixelsPerLegendRow = 26.5;
constexpr double kPixelsPerLegendLetter = 10.0;
constexpr double kPixelsBesideLegendText = 52.0;
constexpr double kPixelsPerLabelLetter = 7.6;
constexpr double kWidthOfAxes = 750.0;
/// Smallest left margin in letters, and the part of a margin for the axis label and the gaps.
constexpr std::size_t kLeastLeftMargin = 12;
constexpr std::size_t kLettersOfAxisName = 6;
constexpr std::size_t kLettersOfLogTicks = 6;  // "1e+100", "10 000"
constexpr int kMostTicks = 64;
/// Height of a plot minus that of its axes, for ticks and labels.
constexpr int kHeightAroundAxes = 90;
constexpr int kHeightAroundOnlyAxes = 160;

// Okabe and Ito's palette, distinguishable with any kind of colour vision.
constexpr std::array<std::string_view, 7> kPalette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#000000"};

std::string gnuplot_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\n') continue;
    result += c;
    if (c == '\'') result += c;
  }
  return result + '\'';
}

/// Line style with the colour of the series or of the palette, which repeats with dashed lines.
std::string line_of(const Series& series, std::size_t index) {
  const bool own = !series.colour.empty();
  const bool dashed = series.dashed || (!own && index >= kPalette.size());
  return fmt::format("lc rgb '{}'{}", own ? series.colour : palette_colour(index),
                     dashed ? " dt 2" : "");
}

std::vector<std::string_view> labels_of(const Plot& plot) {
  std::vector<std::string_view> labels;
  for (const Series& series : plot.series) {
    if (!series.label.empty()) labels.push_back(series.label);
  }
  return labels;
}

/// Width in letters of a legend beside the axes; 0 if it is above them.
std::size_t legend_width(const std::vector<Plot>& plots) {
  std::size_t width = 0;
  for (const Plot& plot : plots) {
    const auto labels = labels_of(plot);
    if (labels.size() <= kMostAbove) continue;
    for (const std::string_view label : labels) width = std::max(width, label.size() + 8);
  }
  return width;
}

/// Number of characters, not bytes.
std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Largest number of rows of a legend above the axes, with as many columns as fit.
std::size_t rows_above(const std::vector<std::string_view>& labels) {
  std::size_t letters = 0;
  for (const std::string_view label : labels) letters = std::max(letters, letters_of(label));
  const double column =
      kPixelsBesideLegendText + kPixelsPerLegendLetter * static_cast<double>(letters);
  const std::size_t columns =
      std::max<std::size_t>(1, static_cast<std::size_t>(kWidthOfAxes / column));
  return (labels.size() + columns - 1) / columns;
}

/// Entries of a legend: labels with their line styles.
std::vector<std::string> legend_of(const Plot& plot) {
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    if (!series.label.empty()) entries.push_back(series.label + '\n' + line_of(series, i));
  }
  return entries;
}

/// Whether a plot shows its legend: not if the legend of the plot above contains all its entries.
bool shows_legend(const std::vector<Plot>& plots, std::size_t panel) {
  const auto own = legend_of(plots[panel]);
  if (own.empty() || panel == 0) return !own.empty();
  const auto above = legend_of(plots[panel - 1]);
  return !std::all_of(own.begin(), own.end(), [&](const std::string& entry) {
    return std::find(above.begin(), above.end(), entry) != above.end();
  });
}

int pixels(double value) { return static_cast<int>(std::ceil(value)); }

/// Heights of the plots. The axes are at least as high as a legend beside them, because gnuplot
/// would start a second column over the data. A legend above the axes adds its rows to the height.
std::vector<int> heights_of(const std::vector<Plot>& plots, bool beside) {
  const bool alone = plots.size() == 1;
  const int around = alone ? kHeightAroundOnlyAxes : kHeightAroundAxes;
  int each = alone ? kHeight : 0;
  for (const Plot& plot : plots) {
    if (!alone)
      each = std::max(each, plot.height_pixels > 0 ? plot.height_pixels : kHeightOfEachOfMany);
    const auto labels = labels_of(plot);
    const double legend = beside ? kPixelsPerLegendRow * static_cast<double>(labels.size()) : 0.0;
    const double name = kPixelsPerLabelLetter * static_cast<double>(letters_of(plot.y_label));
    each = std::max(each, around + pixels(std::max(legend, name)));
  }
  std::vector<int> heights(plots.size(), each);
  for (std::size_t panel = 0; !alone && !beside && panel < plots.size(); ++panel) {
    if (!shows_legend(plots, panel)) continue;
    heights[panel] +=
        pixels(kPixelsPerLegendRow * static_cast<double>(rows_above(labels_of(plots[panel]))));
  }
  return heights;
}

bool has_spread(const Series& series) { return series.low.size() == series.y.size(); }
bool has_x_spread(const Series& series) { return series.x_low.size() == series.x.size(); }

bool can_show(const Plot& plot, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!plot.log_x || x > 0.0) &&
         (!plot.log_y || y > 0.0);
}

/// Lower end of a spread, positive on a logarithmic axis.
double shown_low(const Plot& plot, const Series& series, std::size_t i) {
  return plot.log_y && series.low[i] <= 0.0 ? series.y[i] * 1e-3 : series.low[i];
}

/// The same for x.
double shown_x_low(const Plot& plot, const Series& series, std::size_t i) {
  return plot.log_x && series.x_low[i] <= 0.0 ? series.x[i] * 1e-3 : series.x_low[i];
}

/// First column of a data block after x, y and the spread of y.
int column_behind(const Series& series) { return has_spread(series) ? 5 : 3; }

/// A data block `$name` with columns x y low high, the spread of x and the label beside the value.
std::string data_block(const Plot& plot, const Series& series, const std::string& name) {
  std::string text = fmt::format("${} << EOD\n", name);
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (!can_show(plot, series.x[i], series.y[i])) continue;
    fmt::format_to(out, "{:.9g} {:.9g}", series.x[i], series.y[i]);
    if (has_spread(series)) {
      fmt::format_to(out, " {:.9g} {:.9g}", shown_low(plot, series, i), series.high[i]);
    }
    if (has_x_spread(series)) {
      fmt::format_to(out, " {:.9g} {:.9g}", shown_x_low(plot, series, i), series.x_high[i]);
    }
    if (!series.marks.empty()) fmt::format_to(out, " \"{}\"", series.marks[i]);
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

/// A data block with columns x low high along the steps of a histogram, with both ends of each bin:
/// halfway to the neighbours, as gnuplot draws them.
std::string band_of_steps(const Plot& plot, const Series& series, const std::string& name) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    if (can_show(plot, series.x[i], series.y[i])) shown.push_back(i);
  }
  std::string text = fmt::format("${} << EOD\n", name);
  const auto half_gap = [&](std::size_t k) {
    return 0.5 * (series.x[shown[k + 1]] - series.x[shown[k]]);
  };
  for (std::size_t k = 0; shown.size() > 1 && k < shown.size(); ++k) {
    const std::size_t i = shown[k];
    const double before = half_gap(k > 0 ? k - 1 : 0);
    const double behind = half_gap(k + 1 < shown.size() ? k : k - 1);
    for (const double x : {series.x[i] - before, series.x[i] + behind}) {
      text += fmt::format("{:.9g} {:.9g} {:.9g}\n", x, shown_low(plot, series, i), series.high[i]);
    }
  }
  return text + "EOD\n";
}

bool has_stepped_band(const Series& series) {
  return series.style == Series::Style::steps && has_spread(series);
}

/// Layers of a plot, from the bottom up.
struct Layers {
  std::vector<std::string> bands, curves, texts;
};

/// The parts of the plot command for one series.
void add_commands(const Series& series, const std::string& name, std::size_t index,
                  Layers& layers) {
  using Style = Series::Style;
  const std::string title =
      series.label.empty() ? "notitle" : fmt::format("title {}", gnuplot_text(series.label));
  const std::string line = line_of(series, index);
  const std::string_view colour = std::string_view(line).substr(0, line.find(" dt"));
  const auto draw = [&](std::string_view what) {
    layers.curves.push_back(fmt::format("${} using {}", name, what));
  };
  if (series.style == Style::sticks) {
    draw(fmt::format("1:2 with impulses lw 2 {} {}", line, title));
    draw(fmt::format("1:2 with points pt 7 ps 0.4 {} notitle", line));
    return;
  }
  if (!series.marks.empty()) {
    layers.texts.push_back(
        fmt::format("${} using 1:2:{} with labels left offset 0.6,0.4 font ',8' t{} notitle", name,
                    column_behind(series) + (has_x_spread(series) ? 2 : 0), colour.substr(1)));
  }
  const bool marked = series.style == Style::marked_line;
  if (series.style == Style::points || marked) {
    // gnuplot's own error bars are erased around the point.
    if (has_spread(series)) {
      draw(fmt::format("1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lw 1.5 {} notitle",
                       colour));
    }
    if (has_x_spread(series)) {
      const int low = column_behind(series);
      draw(fmt::format(
          "{0}:2:(${1}-${0}):(0) with vectors heads size screen 0.004,90 lw 1.5 {2} notitle", low,
          low + 1, colour));
    }
    draw(marked ? fmt::format("1:2 with linespoints lw 1.6 pt 7 ps 0.5 {} {}", line, title)
                : fmt::format("1:2 with points pt 7 ps 0.6 {} {}", colour, title));
    return;
  }
  if (has_spread(series)) {
    layers.bands.push_back(fmt::format(
        "${} with filledcurves fill solid 0.22 noborder {} notitle",
        has_stepped_band(series) ? name + "band using 1:2:3" : name + " using 1:3:4", line));
  }
  draw(fmt::format("1:2 with {} lw 2 {} {}", series.style == Style::steps ? "histeps" : "lines",
                   line, title));
}

std::string range_command(char axis, const std::optional<std::array<double, 2>>& range) {
  if (!range) return fmt::format("set {}range [*:*]\n", axis);
  return fmt::format("set {}range [{:.9g}:{:.9g}]\n", axis, (*range)[0], (*range)[1]);
}

/// Space and precision for the ticks of a vertical axis.
struct Ticks {
  std::size_t letters = 0;  ///< of the widest label
  int digits = 6;           ///< significant digits that distinguish the labels
};

/// Range in which gnuplot places ticks: that of the plot or of its data.
std::array<double, 2> tick_range(const Plot& plot, char axis) {
  const auto& range = axis == 'x' ? plot.x_range : plot.y_range;
  if (range) return *range;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto add = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const Series& series : plot.series) {
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      if (!can_show(plot, series.x[i], series.y[i])) continue;
      add(axis == 'x' ? series.x[i] : series.y[i]);
      if (axis == 'x' || !has_spread(series)) continue;
      add(shown_low(plot, series, i));
      add(series.high[i]);
    }
  }
  if (low > high) return {0.0, 1.0};
  // gnuplot widens an empty range like this.
  if (low == high) {
    const double half = low == 0.0 ? 1.0 : 0.01 * std::abs(low);
    return {low - half, high + half};
  }
  return {low, high};
}

/// The labels of the finest ticks that gnuplot may choose, up to 20 per axis. Fewer ticks have a
/// larger spacing and need no more digits.
Ticks ticks_of(const Plot& plot) {
  if (plot.log_y) return {kLettersOfLogTicks};
  const auto [low, high] = tick_range(plot, 'y');
  const double power = std::pow(10.0, std::floor(std::log10(high - low)));
  const double leading = (high - low) / power;
  const double step = power * (leading < 2.0 ? 0.1 : leading < 5.0 ? 0.2 : 0.5);
  const double largest = std::max(std::abs(low), std::abs(high)) + step;
  Ticks ticks;
  // The range overflows or underflows.
  if (!std::isfinite(largest / step)) return ticks;
  const double apart = std::floor(std::log10(largest)) - std::floor(std::log10(step)) + 1.0;
  ticks.digits = static_cast<int>(std::clamp(apart, 6.0, 15.0));
  const double first = std::floor(low / step);
  for (int i = 0; i <= kMostTicks && (first + i - 1.0) * step < high; ++i) {
    ticks.letters =
        std::max(ticks.letters, fmt::format("{:.{}g}", (first + i) * step, ticks.digits).size());
  }
  return ticks;
}

/// Left margin in letters, the same for all plots because they are aligned.
std::size_t left_margin(const std::vector<Plot>& plots) {
  std::size_t letters = 0;
  for (const Plot& plot : plots) letters = std::max(letters, ticks_of(plot).letters);
  return std::max(kLeastLeftMargin, letters + kLettersOfAxisName);
}

/// "10 000".
std::string power_of_ten_text(int power) {
  std::string text = "1" + std::string(static_cast<std::size_t>(power), '0');
  if (power > 3) text.insert(text.size() - 3, " ");
  return text;
}

/// Labels of the powers of ten between 1 and 100 000, and ticks without labels between them.
std::string counted_ticks(double low, double high) {
  std::vector<std::string> ticks;
  for (int power = 0; std::pow(10.0, power) <= high; ++power) {
    for (int digit = 1; digit < 10; ++digit) {
      const double tick = digit * std::pow(10.0, power);
      if (tick < low || tick > high) continue;
      ticks.push_back(fmt::format("'{}' {:.9g} {}", digit == 1 ? power_of_ten_text(power) : "",
                                  tick, digit == 1 ? 0 : 1));
    }
  }
  return fmt::format("{}", fmt::join(ticks, ", "));
}

/// The products of given digits and powers of ten within the range of an axis.
std::vector<std::string> ticks_at(const std::vector<double>& digits,
                                  const std::array<double, 2>& range) {
  std::vector<std::string> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(range[0]))); power <= range[1];
       power *= 10.0) {
    for (const double digit : digits) {
      const double tick = digit * power;
      if (tick >= range[0] && tick <= range[1]) ticks.push_back(fmt::format("{:.9g}", tick));
    }
  }
  return ticks;
}

/// Ticks of a logarithmic axis. Below two decades they are at 1, 2 and 5 times powers of ten, with
/// more of them if these are fewer than three. With more decades they are at the powers, written
/// out for counts and for values near 1.
std::string log_ticks_command(const Plot& plot, char axis) {
  constexpr double kFewDecades = 100.0;
  constexpr double kMostCounted = 1e5;
  constexpr double kLeastPlain = 1e-3, kMostPlain = 1e5;
  const auto& range = axis == 'x' ? plot.x_range : plot.y_range;
  if (!range || (*range)[1] > kFewDecades * (*range)[0]) {
    const auto [low, high] = tick_range(plot, axis);
    const bool counted = range && low >= 1.0 && high <= kMostCounted;
    const bool plain = low >= kLeastPlain && high <= kMostPlain;
    return fmt::format("set {0}tics {1}\nset logscale {0}\nset format {0} '{2}'\n", axis,
                       counted ? fmt::format("({})", counted_ticks(low, high)) : "autofreq",
                       plain ? "%g" : "1e%+T");
  }
  std::vector<std::string> ticks = ticks_at({1.0, 2.0, 5.0}, *range);
  if (ticks.size() < 3) ticks = ticks_at({1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0}, *range);
  return fmt::format("set {0}tics ({1})\nset logscale {0}\nset format {0} '%g'\n", axis,
                     fmt::join(ticks, ", "));
}

/// @param digits significant digits of the labels; 6 is the default of %g
std::string linear_ticks_command(char axis, int digits = 6) {
  return fmt::format("set {0}tics autofreq\nunset logscale {0}\nset format {0} '%{1}g'\n", axis,
                     digits > 6 ? fmt::format(".{}", digits) : "");
}

std::string axes_commands(const Plot& plot, bool has_legend, bool beside) {
  std::string text;
  text += plot.log_x ? log_ticks_command(plot, 'x') : linear_ticks_command('x');
  text +=
      plot.log_y ? log_ticks_command(plot, 'y') : linear_ticks_command('y', ticks_of(plot).digits);
  text += range_command('x', plot.x_range) + range_command('y', plot.y_range);
  text += plot.shaded_until > 0.0
              ? fmt::format(
                    "set object 1 rectangle from graph 0,graph 0 to first {:.9g},graph 1 "
                    "behind fillcolor rgb '#eeeeee' fillstyle solid noborder\n",
                    plot.shaded_until)
              : "unset object\n";
  text += fmt::format("set ylabel {} offset -1,0\n", gnuplot_text(plot.y_label));
  text += has_legend ? fmt::format("set key {} samplen 2 spacing 1.25 textcolor rgb '#333333'\n",
                                   beside ? "at graph 1.03,graph 1 left top Left reverse"
                                          : "outside top center horizontal Left reverse")
                     : "unset key\n";
  return text;
}

std::string plot_command(const Plot& plot, std::size_t panel) {
  Layers layers;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (is_empty(plot, plot.series[i])) continue;
    add_commands(plot.series[i], fmt::format("p{}s{}", panel, i), i, layers);
  }
  std::vector<std::string>& all = layers.bands;
  all.insert(all.end(), layers.curves.begin(), layers.curves.end());
  all.insert(all.end(), layers.texts.begin(), layers.texts.end());
  if (all.empty()) return "plot [0:1] [0:1] NaN notitle\n";
  return fmt::format("plot {}\n", fmt::join(all, ", \\\n  "));
}

/// @param left,legend letters beside the axes
std::string header(PictureFormat format, std::size_t panels, int height, std::size_t left,
                   std::size_t legend, const std::string& output_path) {
  const std::size_t beside = legend + left - kLeastLeftMargin;
  const int width = kWidth + static_cast<int>(kPixelsPerLetter * static_cast<double>(beside));
  const std::string terminal =
      format == PictureFormat::svg
          ? fmt::format(
                "svg noenhanced size {},{} fixed rounded background '#ffffff' "
                "font 'Helvetica,Arial,DejaVu Sans,sans-serif,14'",
                width, height)
          : fmt::format(
                "pngcairo noenhanced size {},{} rounded background '#ffffff' "
                "font 'DejaVu Sans,11'",
                width, height);
  return fmt::format(
      "set encoding utf8\n"
      "set terminal {}\n"
      "set output {}\n"
      "set border 3 lc rgb '#555555' lw 1\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid back lt 1 lc rgb '#e6e6e6' lw 0.8\n"
      "set lmargin {}\n"
      "set rmargin {}\n"
      "set bmargin {}\n",
      terminal, gnuplot_text(output_path), left, 3 + legend, panels == 1 ? 4.2 : 3.2);
}

}  // namespace

std::string gnuplot_script(const std::vector<Plot>& plots, PictureFormat format,
                           const std::string& output_path) {
  // Font sizes are in pixels for SVG and in points for cairo.
  const int title_size = format == PictureFormat::svg ? 17 : 13;
  const std::size_t legend = legend_width(plots);
  const std::vector<int> heights = heights_of(plots, legend > 0);
  const int all = std::accumulate(heights.begin(), heights.end(), 0);
  const int height = plots.size() == 1 ? all : all + kHeightOfTitle + kHeightBelow;
  std::string text = header(format, plots.size(), height, left_margin(plots), legend, output_path);
  for (std::size_t panel = 0; panel < plots.size(); ++panel) {
    for (std::size_t i = 0; i < plots[panel].series.size(); ++i) {
      const Series& series = plots[panel].series[i];
      const std::string name = fmt::format("p{}s{}", panel, i);
      text += data_block(plots[panel], series, name);
      if (has_stepped_band(series)) text += band_of_steps(plots[panel], series, name + "band");
    }
  }
  // A legend above the axes is also above the title of a plot, but below the multiplot title.
  const bool one_title = plots.size() > 1 || (legend == 0 && !labels_of(plots[0]).empty());
  if (one_title) {
    text += fmt::format("set multiplot title {} font ',{}'\n", gnuplot_text(plots[0].title),
                        title_size);
  }
  // The plots share the height below the title.
  const double share = (1.0 - static_cast<double>(kHeightOfTitle) / height) / all;
  int below = all;
  for (std::size_t panel = 0; panel < plots.size(); ++panel) {
    const Plot& plot = plots[panel];
    below -= heights[panel];
    if (one_title) {
      text += fmt::format("set origin 0,{:.6f}\nset size 1,{:.6f}\n", share * below,
                          share * heights[panel]);
    } else {
      text += fmt::format("set title {} font ',{}'\n", gnuplot_text(plot.title), title_size);
    }
    // If the plot below has the same x axis, only that plot has the label, perhaps with an
    // addition.
    const bool shared =
        panel + 1 < plots.size() && plots[panel + 1].x_label.starts_with(plot.x_label);
    text += fmt::format("set xlabel {}\n", shared ? "''" : gnuplot_text(plot.x_label));
    text += axes_commands(plot, shows_legend(plots, panel), legend > 0);
    text += plot_command(plot, panel);
  }
  if (one_title) text += "unset multiplot\n";
  return text + "set output\n";
}

std::string palette_colour(std::size_t place) {
  return std::string(kPalette[place % kPalette.size()]);
}

}  // namespace tarn::io
