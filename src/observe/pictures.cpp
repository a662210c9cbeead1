#include "tarn/observe/pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "thinned_curve.hpp"

namespace tarn {
namespace {

/// What one row of a table gives the panels, with a spread about each value.
template <std::size_t kPanels>
struct RowValues {
  std::array<double, kPanels> value{};
  std::array<double, kPanels> error{};
};

/// "<what>: <model, molecules, replicas>" from the second part of the provenance.
std::string title_of(std::string_view what, std::string_view provenance) {
  const std::size_t begin = provenance.find("; ");
  if (begin == std::string_view::npos) return std::string(what);
  const std::string_view rest = provenance.substr(begin + 2);
  return fmt::format("{}: {}", what, rest.substr(0, std::min(rest.find(", seed"), rest.find(';'))));
}

/// Means and extremes over the rows of one step.
template <std::size_t kPanels>
class StepGroup {
 public:
  void add(const RowValues<kPanels>& row) {
    for (std::size_t p = 0; p < kPanels; ++p) {
      const double low = row.value[p] - row.error[p];
      const double high = row.value[p] + row.error[p];
      sum_[p] += row.value[p];
      low_[p] = rows_ == 0 ? low : std::min(low_[p], low);
      high_[p] = rows_ == 0 ? high : std::max(high_[p], high);
    }
    ++rows_;
  }
  void move_to(double time_ps, std::array<ThinnedCurve, kPanels>& curves) {
    if (rows_ == 0) return;
    for (std::size_t p = 0; p < kPanels; ++p) {
      curves[p].add(time_ps, sum_[p] / rows_, low_[p], high_[p]);
    }
    *this = {};
  }

 private:
  int rows_ = 0;
  std::array<double, kPanels> sum_{}, low_{}, high_{};
};

using Cells = std::vector<std::string_view>;

/// Reads a table of rows `step,time_ps,replica,...` into one curve a panel.
template <std::size_t kPanels>
std::array<ThinnedCurve, kPanels> read_curves(
    io::CsvReader& csv, const std::function<RowValues<kPanels>(const Cells&)>& values_of) {
  std::array<ThinnedCurve, kPanels> curves;
  StepGroup<kPanels> group;
  double time_ps = 0.0;
  const std::size_t time_column = csv.column("time_ps");
  Cells cells;
  while (csv.next(cells)) {
    const double time = csv.number(cells[time_column]);
    if (time != time_ps) group.move_to(time_ps, curves);
    time_ps = time;
    group.add(values_of(cells));
  }
  group.move_to(time_ps, curves);
  return curves;
}

template <std::size_t kPanels>
std::vector<io::Plot> panels_of(const std::string& title,
                                const std::array<ThinnedCurve, kPanels>& curves,
                                const std::array<std::string_view, kPanels>& y_labels) {
  std::vector<io::Plot> plots(kPanels);
  for (std::size_t p = 0; p < kPanels; ++p) {
    plots[p].title = title;
    plots[p].x_label = "time (ps)";
    plots[p].y_label = y_labels[p];
    plots[p].series.push_back(curves[p].series(""));
  }
  return plots;
}

Pictures pictures_of(io::Drawing drawing) {
  Pictures pictures;
  pictures.paths = std::move(drawing.paths);
  if (!drawing.warning.empty()) pictures.warnings.push_back(std::move(drawing.warning));
  return pictures;
}

/// Draws columns of a table one above the other against time.
template <std::size_t kPanels>
Pictures draw_columns(io::CsvReader& csv, const std::string& title,
                      const std::array<std::string, kPanels>& names,
                      const std::array<std::string_view, kPanels>& y_labels,
                      const std::string& path_without_extension,
                      const io::PictureFormats& formats) {
  const bool means = csv.has_column(names[0] + "_err");
  std::array<std::size_t, kPanels> columns{}, error_columns{};
  for (std::size_t p = 0; p < kPanels; ++p) {
    columns[p] = csv.column(names[p]);
    if (means) error_columns[p] = csv.column(names[p] + "_err");
  }
  const auto curves = read_curves<kPanels>(csv, [&](const Cells& cells) {
    RowValues<kPanels> row;
    for (std::size_t p = 0; p < kPanels; ++p) {
      row.value[p] = csv.number(cells[columns[p]]);
      if (means) row.error[p] = csv.number(cells[error_columns[p]]);
    }
    return row;
  });
  return pictures_of(io::draw(panels_of(title_of(title, csv.provenance()), curves, y_labels),
                              path_without_extension, formats));
}

double norm(const double* v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

Pictures draw_energies(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/energies.csv");
  return draw_columns<3>(csv, "Energies",
                         {"potential_kcal_per_mol", "total_kcal_per_mol", "temperature_K"},
                         {"potential (kcal/mol)", "total (kcal/mol)", "temperature (K)"},
                         folder + "/energies", formats);
}

Pictures draw_cluster(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/cluster.csv");
  const std::string path = folder + "/cluster";
  if (!csv.has_column("lindemann")) {
    return draw_columns<3>(csv, "Cluster", {"radius_of_gyration_A", "hydrogen_bonds", "dipole_D"},
                           {"radius of gyration (Å)", "hydrogen bonds", "dipole (D)"}, path,
                           formats);
  }
  return draw_columns<4>(
      csv, "Cluster", {"radius_of_gyration_A", "hydrogen_bonds", "dipole_D", "lindemann"},
      {"radius of gyration (Å)", "hydrogen bonds", "dipole (D)", "Lindemann index"}, path, formats);
}

Pictures draw_conservation(const std::string& folder, const io::PictureFormats& formats) {
  io::CsvReader csv(folder + "/conservation.csv");
  constexpr std::size_t kColumns = 7;
  const std::array<std::string_view, kColumns> names{
      "energy_kcal_per_mol", "px_Da_A_per_ps",  "py_Da_A_per_ps", "pz_Da_A_per_ps",
      "lx_Da_A2_per_ps",     "ly_Da_A2_per_ps", "lz_Da_A2_per_ps"};
  std::array<std::size_t, kColumns> columns{};
  for (std::size_t c = 0; c < kColumns; ++c) columns[c] = csv.column(names[c]);
  const std::size_t replica_column = csv.column("replica");
  std::map<std::string, std::array<double, kColumns>, std::less<>> first_rows;
  const auto curves = read_curves<3>(csv, [&](const Cells& cells) {
    std::array<double, kColumns> now{};
    for (std::size_t c = 0; c < kColumns; ++c) now[c] = csv.number(cells[columns[c]]);
    const auto& first = first_rows.emplace(cells[replica_column], now).first->second;
    for (std::size_t c = 0; c < kColumns; ++c) now[c] -= first[c];
    return RowValues<3>{{now[0], norm(&now[1]), norm(&now[4])}, {}};
  });
  auto plots =
      panels_of<3>(title_of("Conservation", csv.provenance()), curves,
                   {"E - E(0) (kcal/mol)", "|P - P(0)| (Da Å/ps)", "|L - L(0)| (Da Å²/ps)"});
  for (std::size_t p = 1; p < plots.size(); ++p) {
    const std::vector<double>& y = plots[p].series[0].y;
    plots[p].log_y = std::any_of(y.begin(), y.end(), [](double value) { return value > 0.0; });
  }
  return pictures_of(io::draw(plots, folder + "/conservation", formats));
}

Pictures draw_rdf(const std::string& folder, const io::PictureFormats& formats) {
  return draw_rdf_table(folder + "/rdf.csv", folder + "/rdf", formats);
}

Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats) {
  io::CsvReader csv(table);
  io::Plot plot;
  plot.title = title_of("Radial distribution", csv.provenance());
  plot.x_label = "r (Å)";
  plot.y_label = "g(r), relative to an even spread";
  struct Class {
    std::size_t g, err;
  };
  std::vector<Class> classes;
  for (const std::string_view pair : {"OO", "OH", "HH"}) {
    if (!csv.has_column(fmt::format("{}_g", pair))) continue;
    classes.push_back(
        {csv.column(fmt::format("{}_g", pair)), csv.column(fmt::format("{}_g_err", pair))});
    plot.series.emplace_back().label = fmt::format("{}–{}", pair[0], pair[1]);
  }
  double last_r = 0.0;
  double width = 0.0;
  double last_populated_r = 0.0;
  double highest = 0.0;
  Cells cells;
  while (csv.next(cells)) {
    const double r = csv.number(cells[0]);
    width = r - last_r;
    last_r = r;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      io::Series& series = plot.series[c];
      const double g = csv.number(cells[classes[c].g]);
      const double err = csv.number(cells[classes[c].err]);
      series.x.push_back(r);
      series.y.push_back(g);
      series.low.push_back(std::max(0.0, g - err));
      series.high.push_back(g + err);
      if (g > 0.0) last_populated_r = r;
      highest = std::max(highest, g + err);
    }
  }
  const double r_end = last_r + 0.5 * width;
  plot.x_range = {{0.0, last_populated_r > 0.0 ? std::min(r_end, 1.05 * last_populated_r) : r_end}};
  plot.y_range = {{0.0, highest > 0.0 ? 1.08 * highest : 1.0}};
  return pictures_of(io::draw(plot, path_without_extension, formats));
}

Pictures draw_run(const std::string& folder, const io::PictureFormats& formats) {
  if (is_mechanical_run(folder)) return draw_mechanical_run(folder, formats);
  Pictures all;
  const auto add = [&](const char* table,
                       Pictures (*draw)(const std::string&, const io::PictureFormats&)) {
    if (!std::filesystem::exists(folder + table)) return;
    const Pictures some = draw(folder, formats);
    all.paths.insert(all.paths.end(), some.paths.begin(), some.paths.end());
    all.warnings.insert(all.warnings.end(), some.warnings.begin(), some.warnings.end());
  };
  add("/energies.csv", draw_energies);
  add("/conservation.csv", draw_conservation);
  add("/cluster.csv", draw_cluster);
  add("/rdf.csv", draw_rdf);
  return all;
}

}  // namespace tarn
