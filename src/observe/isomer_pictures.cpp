#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "picture_parts.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/observe/pictures.hpp"
#include "tarn/observe/structure_picture.hpp"

namespace tarn {
namespace {

/// Label of a curve.
std::string isomer_label(double number, double above_kcal_per_mol) {
  if (number == 1.0) return "isomer 1 (lowest)";
  // Enough decimals to distinguish close minima.
  const int decimals = std::max(2, analysis::decimals_for(above_kcal_per_mol));
  return fmt::format("isomer {}, +{:.{}f} kcal/mol", static_cast<int>(number), above_kcal_per_mol,
                     decimals);
}

/// Explains the marks on the axis label, if there are any.
void explain_marks(io::Plot& plot) {
  for (const io::Series& series : plot.series) {
    if (std::find(series.marks.begin(), series.marks.end(), "*") == series.marks.end()) continue;
    plot.x_label += kLowerBoundExplained;
    return;
  }
}

/// Populations against temperature, for the most populated minima.
io::Plot shares_by_bath(const std::string& table) {
  constexpr std::size_t kMost = 6;
  io::CsvReader csv(table);
  const std::size_t bath = csv.column("bath_K"), isomer = csv.column("isomer");
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  const std::size_t samples = csv.column("of_samples"), converged = csv.column("converged");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "temperature (K)     bars: standard error";
  plot.y_label = "population";
  plot.y_range = {{0.0, 1.0}};
  std::map<double, io::Series> curves;
  std::map<double, std::vector<double>> errors;
  std::map<double, double> rest;
  Cells cells;
  while (csv.next(cells)) {
    if (csv.number(cells[samples]) == 0.0) continue;
    const double number = csv.number(cells[isomer]), bath_K = csv.number(cells[bath]);
    io::Series& curve = curves[number];
    curve.label = isomer_label(number, csv.number(cells[above]));
    curve.x.push_back(bath_K);
    curve.y.push_back(csv.number(cells[share]));
    errors[number].push_back(csv.number(cells[error]));
    curve.marks.emplace_back(mark_of_lower_bound(csv.number(cells[converged]) != 0.0));
    rest.try_emplace(bath_K, 1.0);
  }
  const auto largest = [&](double number) {
    return *std::max_element(curves[number].y.begin(), curves[number].y.end());
  };
  std::vector<double> shown;
  for (const auto& [number, curve] : curves) shown.push_back(number);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](double a, double b) { return largest(a) > largest(b); });
  shown.resize(std::min(shown.size(), kMost));
  std::sort(shown.begin(), shown.end());
  for (const double number : shown) {
    io::Series& curve = curves[number];
    for (std::size_t i = 0; i < curve.x.size(); ++i) rest[curve.x[i]] -= curve.y[i];
    curve.style = io::Series::Style::marked_line;
    curve.set_error(errors[number]);
    plot.series.push_back(std::move(curve));
  }
  io::Series& others = plot.series.emplace_back();
  others.label = "all others";
  others.colour = "#888888";
  others.dashed = true;
  for (const auto& [bath_K, value] : rest) {
    others.x.push_back(bath_K);
    others.y.push_back(std::max(value, 0.0));
  }
  explain_marks(plot);
  if (!rest.empty()) {
    const double margin = 0.02 * (rest.rbegin()->first - rest.begin()->first);
    plot.x_range = {{rest.begin()->first - margin, rest.rbegin()->first + margin}};
  }
  return plot;
}

/// Populations of all minima against their energies.
io::Plot shares_by_energy(const std::string& table) {
  io::CsvReader csv(table);
  const std::size_t above = csv.column("above_lowest_kcal_per_mol");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  const std::size_t converged = csv.column("converged");
  io::Plot plot;
  plot.title = title_of("Inherent structures", csv.provenance());
  plot.x_label = "energy above the lowest minimum found (kcal/mol)     bars: standard error";
  plot.y_label = "population";
  io::Series& points = plot.series.emplace_back();
  points.style = io::Series::Style::points;
  std::vector<double> errors;
  Cells cells;
  while (csv.next(cells)) {
    points.x.push_back(csv.number(cells[above]));
    points.y.push_back(csv.number(cells[share]));
    errors.push_back(csv.number(cells[error]));
    points.marks.emplace_back(mark_of_lower_bound(csv.number(cells[converged]) != 0.0));
  }
  explain_marks(plot);
  double highest = 0.0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    highest = std::max(highest, points.y[i] + (std::isfinite(errors[i]) ? errors[i] : 0.0));
  }
  if (highest > 0.0) plot.y_range = {{0.0, 1.05 * highest}};
  points.set_error(errors);
  if (!points.x.empty())
    plot.x_range = {{-0.03 * points.x.back() - 0.01, 1.03 * points.x.back() + 0.01}};
  return plot;
}

/// Structures of the lowest isomers, as many as one picture can show.
std::vector<DrawnCluster> lowest_isomers(const std::string& path) {
  constexpr std::size_t kMost = 12;
  int molecules = 0;
  std::vector<DrawnCluster> clusters;
  io::XyzReader reader(path);
  while (clusters.size() < kMost) {
    const auto structure = reader.next();
    if (!structure) break;
    molecules += structure->molecules;
    if (molecules > kMostDrawnMolecules) break;
    clusters.push_back({structure->positions_A, label_of_frame(*structure)});
  }
  return clusters;
}

}  // namespace

Pictures draw_isomers(const std::string& folder, const io::PictureFormats& formats) {
  const std::string by_bath = folder + "/isomers_by_bath.csv";
  const io::Plot plot = std::filesystem::exists(by_bath)
                            ? shares_by_bath(by_bath)
                            : shares_by_energy(folder + "/isomers.csv");
  if (plot.series.front().x.empty()) {
    return {{},
            {Message::warning(
                "isomers.csv has no rows and no picture: [observe.minima] has no step after "
                "equilibration")}};
  }
  Pictures pictures = pictures_of(io::draw(plot, folder + "/isomers", formats));
  const std::string structures = folder + "/isomers.xyz";
  const bool wanted =
      std::find(formats.begin(), formats.end(), io::PictureFormat::svg) != formats.end();
  if (!wanted || !std::filesystem::exists(structures)) return pictures;
  const std::vector<DrawnCluster> clusters = lowest_isomers(structures);
  if (clusters.empty()) return pictures;
  pictures.paths.push_back(folder + "/isomers_structures.svg");
  io::write_file(pictures.paths.back(), structure_svg(clusters, {}));
  return pictures;
}

}  // namespace tarn
