#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tarn/io/csv.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

constexpr std::size_t kMostPoints = 2000;  // per curve
constexpr std::size_t kMostCurves = 4;
/// Number of positions considered for the picture.
constexpr std::size_t kMostCandidates = 24;
/// Number of time bins for changes of conserved quantities; oscillations would fill a band.
constexpr double kPartsOfTime = 200.0;
constexpr std::size_t kMostConserved = 6;

/// Columns of a table against another, with a limited number of points.
std::vector<io::Series> read_series(io::CsvReader& csv, const std::string& against,
                                    const std::vector<std::string>& names) {
  std::vector<io::Series> series;
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    if (!csv.has_column(name)) continue;
    columns.push_back(csv.column(name));
    series.emplace_back().label = name;
  }
  const std::size_t x = csv.column(against);
  std::vector<std::string_view> cells;
  std::size_t stride = 1, row = 0;
  while (csv.next(cells)) {
    if (row++ % stride != 0) continue;
    for (std::size_t k = 0; k < series.size(); ++k) {
      series[k].x.push_back(csv.number(cells[x]));
      series[k].y.push_back(csv.number(cells[columns[k]]));
    }
    if (series.empty() || series[0].x.size() < 2 * kMostPoints) continue;
    for (io::Series& s : series) {  // drop every other point
      for (std::vector<double>* values : {&s.x, &s.y}) {
        for (std::size_t i = 0; 2 * i < values->size(); ++i) (*values)[i] = (*values)[2 * i];
        values->resize((values->size() + 1) / 2);
      }
    }
    stride *= 2;
  }
  return series;
}

/// "double-pendulum, zs", from the provenance line.
std::string system_and_scheme(std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = provenance.substr(begin + 2);
  return std::string(rest.substr(0, rest.find(';')));
}

/// Whether two curves agree, up to rounding and sign.
bool equal_up_to_sign(const std::vector<double>& a, const std::vector<double>& b) {
  double size = 0.0, difference = 0.0, sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size = std::max({size, std::abs(a[i]), std::abs(b[i])});
    difference = std::max(difference, std::abs(a[i] - b[i]));
    sum = std::max(sum, std::abs(a[i] + b[i]));
  }
  return std::min(difference, sum) <= 1e-9 * size;
}

/// Plots the first few positions, which follow step and time and precede the velocities. Skips
/// constant and duplicate columns: matrices contain zeros and repeated elements.
io::Plot plot_of_trajectory(io::CsvReader& csv, const std::string& against) {
  const std::vector<std::string> header = csv.header();
  const auto begin = header.begin() + 2;
  const auto end = std::find_if(begin, header.end(),
                                [](const std::string& name) { return name.starts_with('v'); });
  const auto all = static_cast<std::size_t>(end - begin);
  const auto candidates = static_cast<std::ptrdiff_t>(std::min(all, kMostCandidates));
  io::Plot plot;
  std::vector<io::Series> read = read_series(csv, against, {begin, begin + candidates});
  for (io::Series& series : read) {
    if (plot.series.size() == kMostCurves) break;
    const auto [low, high] = std::minmax_element(series.y.begin(), series.y.end());
    const bool is_constant = series.y.empty() || *low == *high;
    const bool is_duplicate =
        std::any_of(plot.series.begin(), plot.series.end(),
                    [&](const io::Series& shown) { return equal_up_to_sign(shown.y, series.y); });
    if (!is_constant && !is_duplicate) plot.series.push_back(std::move(series));
  }
  if (plot.series.empty() && !read.empty()) plot.series.push_back(std::move(read.front()));
  const std::size_t shown = plot.series.size();
  plot.y_label = shown < all ? fmt::format("{} of {} coordinates q", shown, all) : "coordinate q";
  return plot;
}

/// Energies, and the change in total energy on a separate scale.
std::vector<io::Plot> plots_of_energies(io::CsvReader& csv, const std::string& against) {
  std::vector<io::Plot> plots(1);
  plots[0].series = read_series(csv, against, {"potential", "penalty", "kinetic", "total"});
  plots[0].y_label = "energy";
  for (const io::Series& series : plots[0].series) {
    if (series.label != "total" || series.y.empty()) continue;
    io::Series change = series;
    change.label.clear();
    for (double& y : change.y) y -= series.y.front();
    io::Plot plot;
    plot.series.push_back(std::move(change));
    plot.y_label = "change in total energy";
    plots.push_back(std::move(plot));
    break;
  }
  return plots;
}

/// "spatial" for "spatial_12".
std::string_view family_of(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name[end] == '_' ? name.substr(0, end) : name;
}

/// Indices of the quantities that change; if there are too many, only the largest change per
/// family.
/// @param most largest change of each quantity
std::vector<std::size_t> conserved_to_show(const std::vector<std::string>& names,
                                           const std::vector<double>& most) {
  std::vector<std::size_t> all, of_families;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (most[k] == 0.0) continue;
    all.push_back(k);
    const auto same = std::find_if(of_families.begin(), of_families.end(), [&](std::size_t i) {
      return family_of(names[i]) == family_of(names[k]);
    });
    if (same == of_families.end()) {
      of_families.push_back(k);
    } else if (most[k] > most[*same]) {
      *same = k;
    }
  }
  if (all.size() <= kMostConserved) return all;
  of_families.resize(std::min(of_families.size(), kMostConserved));
  return of_families;
}

/// Absolute changes of conserved quantities since the first row, on a logarithmic axis: the maximum
/// per time bin, and the overall maximum in the legend. Constant quantities are omitted.
io::Plot plot_of_conserved(const std::string& path, const std::string& against) {
  io::CsvReader csv(path);
  const std::vector<std::string> header = csv.header();
  const std::vector<std::string> names(header.begin() + 2, header.end());
  const std::size_t x = csv.column(against);
  double last = 0.0;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) last = csv.number(cells[x]);
  io::Plot plot;
  plot.log_y = true;
  io::CsvReader again(path);
  std::vector<io::Series> curves(names.size());
  std::vector<double> first, most(names.size(), 0.0);
  double part = -1.0;
  while (again.next(cells)) {
    const double at = again.number(cells[x]);
    const double own = last > 0.0 ? std::ceil(at / last * kPartsOfTime * (1.0 - 1e-12)) : 0.0;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const double value = again.number(cells[k + 2]);
      if (first.size() < names.size()) first.push_back(value);
      if (own != part) {
        curves[k].x.push_back(at);
        curves[k].y.push_back(0.0);
      }
      curves[k].x.back() = at;
      curves[k].y.back() = std::max(curves[k].y.back(), std::abs(value - first[k]));
      most[k] = std::max(most[k], curves[k].y.back());
    }
    part = own;
  }
  const std::vector<std::size_t> shown = conserved_to_show(names, most);
  for (const std::size_t k : shown) {
    curves[k].label = fmt::format("{}, max {:.2g}", names[k], most[k]);
    plot.series.push_back(std::move(curves[k]));
  }
  plot.y_label = "absolute change";
  const auto changing = static_cast<std::size_t>(
      std::count_if(most.begin(), most.end(), [](double change) { return change > 0.0; }));
  if (shown.size() < changing) {
    plot.y_label += fmt::format(", {} of {} quantities", shown.size(), changing);
  }
  return plot;
}

/// Whether the rows of a table are iterations: the time column is constant.
bool is_iteration_table(const std::string& path) {
  io::CsvReader csv(path);
  const std::size_t time = csv.column("time");
  std::vector<std::string_view> cells;
  std::string first;
  for (std::size_t row = 0; csv.next(cells); ++row) {
    if (row == 0) first = cells[time];
    if (cells[time] != first) return false;
  }
  return true;
}

}  // namespace

bool is_mechanical_run(const std::string& folder) {
  for (const char* table : {"trajectory", "energies", "conservation"}) {
    const std::string path = folder + '/' + table + ".csv";
    if (std::filesystem::exists(path)) return io::CsvReader(path).has_column("time");
  }
  return false;
}

Pictures draw_mechanical_run(const std::string& folder, const io::PictureFormats& formats) {
  Pictures pictures;
  for (const std::string name : {"trajectory", "energies", "conservation"}) {
    const std::string path = folder + '/' + name;
    if (!std::filesystem::exists(path + ".csv")) continue;
    io::CsvReader csv(path + ".csv");
    const bool iterates = is_iteration_table(path + ".csv");
    const std::string against = iterates ? "step" : "time";
    std::vector<io::Plot> plots;
    if (name == "trajectory") {
      plots.push_back(plot_of_trajectory(csv, against));
    } else if (name == "energies") {
      plots = plots_of_energies(csv, against);
    } else {
      plots.push_back(plot_of_conserved(path + ".csv", against));
      if (plots.back().series.empty()) continue;  // nothing changes
    }
    plots.front().title = system_and_scheme(csv.provenance());
    for (io::Plot& plot : plots) {
      plot.x_label = iterates ? "iteration" : "time";
      if (name == "conservation" && !iterates) {
        plot.x_label += fmt::format("     points: maximum per 1/{:g} of the time", kPartsOfTime);
      }
      if (!iterates) continue;
      for (io::Series& s : plot.series) s.style = io::Series::Style::marked_line;
    }
    io::Drawing drawing = io::draw(plots, path, formats);
    std::move(drawing.paths.begin(), drawing.paths.end(), std::back_inserter(pictures.paths));
    if (drawing.warning.empty()) continue;
    pictures.messages.push_back(Message::warning(std::move(drawing.warning)));
    pictures.failed = true;
  }
  return pictures;
}

}  // namespace tarn
