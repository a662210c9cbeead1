#include "tarn/observe/pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr std::size_t kMostPoints = 2000;  // of a curve
constexpr std::size_t kMostCurves = 4;

/// Columns of a table against time, at most so many points.
std::vector<io::Series> read_series(io::CsvReader& csv, const std::vector<std::string>& names) {
  std::vector<io::Series> series;
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    if (!csv.has_column(name)) continue;
    columns.push_back(csv.column(name));
    series.emplace_back().label = name;
  }
  const std::size_t time = csv.column("time");
  std::vector<std::string_view> cells;
  std::size_t stride = 1, row = 0;
  while (csv.next(cells)) {
    if (row++ % stride != 0) continue;
    for (std::size_t k = 0; k < series.size(); ++k) {
      series[k].x.push_back(csv.number(cells[time]));
      series[k].y.push_back(csv.number(cells[columns[k]]));
    }
    if (series.empty() || series[0].x.size() < 2 * kMostPoints) continue;
    for (io::Series& s : series) {  // every other point is left out
      for (std::vector<double>* values : {&s.x, &s.y}) {
        for (std::size_t i = 0; 2 * i < values->size(); ++i) (*values)[i] = (*values)[2 * i];
        values->resize((values->size() + 1) / 2);
      }
    }
    stride *= 2;
  }
  return series;
}

/// The legend stands in the upper part of the axes.
void leave_room_for_legend(io::Plot& plot) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const io::Series& s : plot.series) {
    for (double y : s.y) {
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  const double range = high - low;
  if (range > 0.0) plot.y_range = {low - 0.05 * range, high + 0.35 * range};
}

/// "double-pendulum, zs", from the line of provenance.
std::string system_and_scheme(std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = provenance.substr(begin + 2);
  return std::string(rest.substr(0, rest.find(';')));
}

/// The first columns after step and time.
std::vector<std::string> first_curves(const std::vector<std::string>& header) {
  const auto end = static_cast<std::ptrdiff_t>(std::min(header.size(), 2 + kMostCurves));
  return {header.begin() + 2, header.begin() + end};
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
  for (const char* name : {"trajectory", "energies"}) {
    const std::string path = folder + '/' + name;
    if (!std::filesystem::exists(path + ".csv")) continue;
    io::CsvReader csv(path + ".csv");
    io::Plot plot;
    plot.title = system_and_scheme(csv.provenance());
    plot.x_label = "time";
    plot.y_label = name;
    const bool energies = csv.has_column("total");
    plot.series =
        read_series(csv, energies ? std::vector<std::string>{"potential", "kinetic", "total"}
                                  : first_curves(csv.header()));
    leave_room_for_legend(plot);
    io::Drawing drawing = io::draw(plot, path, formats);
    std::move(drawing.paths.begin(), drawing.paths.end(), std::back_inserter(pictures.paths));
    if (!drawing.warning.empty()) pictures.warnings.push_back(std::move(drawing.warning));
  }
  return pictures;
}

}  // namespace tarn
