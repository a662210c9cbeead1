#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "picture_parts.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/pictures.hpp"

namespace tarn {
namespace {

/// A pair type in a table of radial distribution functions.
struct RdfClass {
  std::string name;
  std::size_t g, err;                // columns
  std::vector<io::Series> curves{};  // [bath]
};

double highest_of(const io::Plot& plot) {
  double highest = 0.0;
  for (const io::Series& curve : plot.series) {
    for (const double high : curve.high) highest = std::max(highest, high);
  }
  return highest;
}

/// Distance up to which the curves visibly differ from 0.
double visible_range_A(const std::vector<io::Plot>& plots) {
  double last = 0.0;
  for (const io::Plot& plot : plots) {
    const double seen = 0.004 * highest_of(plot);
    for (const io::Series& curve : plot.series) {
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        if (curve.high[i] > seen) last = std::max(last, curve.x[i]);
      }
    }
  }
  return last > 0.0 ? 1.05 * last : std::numeric_limits<double>::infinity();
}

/// @param why_empty reason for a table without pairs
Pictures draw_distributions(const std::string& table, const std::string& path_without_extension,
                            const io::PictureFormats& formats, const std::string& end_of_title,
                            std::string_view why_empty) {
  io::CsvReader csv(table);
  const bool by_bath = csv.has_column("bath_K");
  const std::size_t r_column = csv.column("r_A");
  std::vector<RdfClass> classes;
  for (const std::string_view pair : {"OO", "OH", "HH"}) {
    if (!csv.has_column(fmt::format("{}_g", pair))) continue;
    classes.push_back({fmt::format("{}–{}", pair[0], pair[1]),
                       csv.column(fmt::format("{}_g", pair)),
                       csv.column(fmt::format("{}_g_err", pair))});
  }
  double last_r = 0.0;
  double width = 0.0;
  Cells cells;
  while (csv.next(cells)) {
    const double r = csv.number(cells[r_column]);
    if (r <= last_r || classes.front().curves.empty()) {
      width = 2.0 * r;  // the first bin begins at 0
      for (RdfClass& c : classes) {
        c.curves.emplace_back().label =
            by_bath ? bath_text(csv.number(cells[csv.column("bath_K")])) : c.name;
      }
    }
    last_r = r;
    for (RdfClass& c : classes) {
      const double g = csv.number(cells[c.g]);
      const double err = csv.number(cells[c.err]);
      io::Series& curve = c.curves.back();
      curve.x.push_back(r);
      curve.y.push_back(g);
      curve.low.push_back(std::max(0.0, g - err));
      curve.high.push_back(g + err);
    }
  }
  // With several temperatures one panel per pair type, otherwise one panel for all pair types.
  std::vector<io::Plot> plots(by_bath ? classes.size() : 1);
  std::string note;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    io::Plot& plot = plots[by_bath ? c : 0];
    plot.y_label =
        by_bath ? fmt::format("g(r) of {}", classes[c].name) : "g(r) relative to a uniform sphere";
    if (by_bath) note = select_baths(classes[c].curves);
    for (io::Series& curve : classes[c].curves) plot.series.push_back(std::move(curve));
  }
  if (std::all_of(plots.begin(), plots.end(),
                  [](const io::Plot& plot) { return highest_of(plot) == 0.0; })) {
    return {{},
            {Message::warning(fmt::format("{} has no pairs and no picture: {}",
                                          std::filesystem::path(table).filename().string(),
                                          why_empty))}};
  }
  const double r_end = std::min(last_r + 0.5 * width, visible_range_A(plots));
  for (io::Plot& plot : plots) {
    plot.title = title_of("Radial distribution", csv.provenance()) + end_of_title;
    plot.x_label = "r (Å)";
    plot.x_range = {{0.0, r_end}};
    plot.y_range = {{0.0, highest_of(plot) > 0.0 ? 1.08 * highest_of(plot) : 1.0}};
  }
  plots.back().x_label += "     band: standard error" + note;
  return pictures_of(io::draw(plots, path_without_extension, formats));
}

}  // namespace

Pictures draw_rdf(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/rdf_by_bath.csv";
  const bool several = std::filesystem::exists(by_bath);
  const std::vector<double> baths = baths_of_run(folder);
  return draw_distributions(several ? by_bath : folder + "/rdf.csv", folder + "/rdf", formats,
                            several || baths.empty() ? "" : ", " + bath_text(baths.front()),
                            "[observe.rdf] has no step after equilibration, or no pair is within "
                            "r_max_A");
}

Pictures draw_rdf_table(const std::string& table, const std::string& path_without_extension,
                        const io::PictureFormats& formats) {
  return draw_distributions(table, path_without_extension, formats, "",
                            "no pair is within the largest distance");
}

Pictures draw_profile(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/profile_by_bath.csv";
  const bool several = std::filesystem::exists(by_bath);
  io::CsvReader csv(several ? by_bath : folder + "/profile.csv");
  struct Panel {
    std::string_view column, y_label;
  };
  constexpr std::array<Panel, 2> panels{
      {{"density_g_per_cm3", "density (g/cm³)"}, {"cos_dipole", "mean dipole cosine"}}};
  const std::size_t r_column = csv.column("r_A");
  std::array<std::size_t, panels.size()> value{}, error{};
  std::vector<std::vector<io::Series>> curves(panels.size());
  for (std::size_t p = 0; p < panels.size(); ++p) {
    value[p] = csv.column(panels[p].column);
    error[p] = csv.column(fmt::format("{}_err", panels[p].column));
  }
  double last_r = 0.0, densest = 0.0;
  Cells cells;
  while (csv.next(cells)) {
    const double r = csv.number(cells[r_column]);
    if (r <= last_r || curves.front().empty()) {
      for (std::vector<io::Series>& of_panel : curves) {
        of_panel.emplace_back().label =
            several ? bath_text(csv.number(cells[csv.column("bath_K")])) : "";
      }
    }
    last_r = r;
    densest = std::max(densest, csv.number(cells[value[0]]));
    for (std::size_t p = 0; p < panels.size(); ++p) {
      if (cells[value[p]] == "nan") continue;
      const double y = csv.number(cells[value[p]]), err = csv.number(cells[error[p]]);
      io::Series& curve = curves[p].back();
      curve.x.push_back(r);
      curve.y.push_back(y);
      curve.low.push_back(y - err);
      curve.high.push_back(y + err);
    }
  }
  if (densest == 0.0) {
    return {{},
            {Message::warning(
                "profile.csv has no samples and no picture: [observe.profile] has no step after "
                "equilibration")}};
  }
  std::vector<io::Plot> plots(panels.size());
  const std::vector<double> baths = baths_of_run(folder);
  std::string note;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    io::Plot& plot = plots[p];
    if (several) note = select_baths(curves[p]);
    plot.series = std::move(curves[p]);
    plot.title = title_of("Radial profile", csv.provenance()) +
                 (several || baths.empty() ? "" : ", " + bath_text(baths.front()));
    plot.x_label = "distance from the centre of mass (Å)";
    plot.y_label = panels[p].y_label;
  }
  plots[0].y_range = {{0.0, 1.08 * highest_of(plots[0])}};
  // Only accurate values set the scale; the innermost shells contain few molecules.
  double turned = 0.2;
  for (const io::Series& curve : plots[1].series) {
    for (std::size_t i = 0; i < curve.y.size(); ++i) {
      const double err = curve.high[i] - curve.y[i];
      if (err > 0.0 && err < 0.1) turned = std::max(turned, std::fabs(curve.y[i]));
    }
  }
  const double seen_A = std::min(last_r, visible_range_A({plots[0]}));
  for (io::Plot& plot : plots) plot.x_range = {{0.0, seen_A}};
  plots[1].y_range = {{-1.2 * turned, 1.2 * turned}};
  plots.back().x_label += "     band: standard error" + note;
  return pictures_of(io::draw(plots, folder + "/profile", formats));
}

}  // namespace tarn
