#include "tarn/observe/pictures.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr std::size_t kMostPoints = 2000;  // of a curve
constexpr std::size_t kMostCurves = 4;

/// Columns of a table against another, at most so many points.
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

/// "double-pendulum, zs", from the line of provenance.
std::string system_and_scheme(std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = provenance.substr(begin + 2);
  return std::string(rest.substr(0, rest.find(';')));
}

/// What is drawn of a table, and how the axis calls it.
struct Curves {
  std::vector<std::string> names;
  std::string axis;
};

/// The first of the positions, which stand after step and time and before the velocities.
Curves curves_of_trajectory(const std::vector<std::string>& header) {
  const auto begin = header.begin() + 2;
  const auto end = std::find_if(begin, header.end(),
                                [](const std::string& name) { return name.starts_with('v'); });
  const auto all = static_cast<std::size_t>(end - begin);
  const std::size_t drawn = std::min(all, kMostCurves);
  return {{begin, begin + static_cast<std::ptrdiff_t>(drawn)},
          drawn < all ? fmt::format("the first {} of {} positions", drawn, all) : "position"};
}

/// Whether time does not pass in a table: its rows are those of an iteration.
bool stands_still(const std::string& path) {
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
  for (const char* name : {"trajectory", "energies"}) {
    const std::string path = folder + '/' + name;
    if (!std::filesystem::exists(path + ".csv")) continue;
    io::CsvReader csv(path + ".csv");
    io::Plot plot;
    plot.title = system_and_scheme(csv.provenance());
    const bool iterates = stands_still(path + ".csv");
    plot.x_label = iterates ? "iteration" : "time";
    const Curves curves = csv.has_column("total")
                              ? Curves{{"potential", "kinetic", "total"}, "energy"}
                              : curves_of_trajectory(csv.header());
    plot.y_label = curves.axis;
    plot.series = read_series(csv, iterates ? "step" : "time", curves.names);
    if (iterates) {
      for (io::Series& s : plot.series) s.style = io::Series::Style::marked_line;
    }
    io::Drawing drawing = io::draw(plot, path, formats);
    std::move(drawing.paths.begin(), drawing.paths.end(), std::back_inserter(pictures.paths));
    if (!drawing.warning.empty()) pictures.warnings.push_back(std::move(drawing.warning));
  }
  return pictures;
}

}  // namespace tarn
