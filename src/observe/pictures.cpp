#include "tarn/observe/pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "downsampled_curve.hpp"
#include "observable.hpp"
#include "picture_parts.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"

namespace tarn {
namespace {

/// Names, without extension, of replica tables that no deck writes: those of custom observers.
std::vector<std::string> own_tables(const std::string& folder) {
  const std::vector<std::string> known = observer_file_names();
  std::vector<std::string> tables;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".csv" || !entry.is_regular_file()) continue;
    if (std::find(known.begin(), known.end(), path.filename()) != known.end()) continue;
    std::string first;
    std::getline(std::ifstream(path), first);
    if (!first.starts_with("# tarn ")) continue;
    const std::vector<std::string> header = io::CsvReader(path.string()).header();
    if (header.size() > kRowColumns.size() &&
        std::equal(kRowColumns.begin(), kRowColumns.end(), header.begin())) {
      tables.push_back(path.stem().string());
    }
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

/// The heat capacity of classical nuclei, of ring polymers only [cal/mol/K].
std::optional<io::Series> classical_heat_capacity_curve(const std::string& folder) {
  const std::string path = folder + "/heat_capacity.csv";
  if (!std::filesystem::exists(path)) return std::nullopt;
  io::CsvReader csv(path);
  if (!csv.has_column("classical_kcal_per_mol_K")) return std::nullopt;
  const std::size_t temperature = csv.column("temperature_K");
  const std::size_t value = csv.column("classical_kcal_per_mol_K");
  io::Series curve;
  curve.label = "classical nuclei, harmonic";
  curve.colour = "#888888";
  curve.dashed = true;
  Cells cells;
  while (csv.next(cells)) {
    curve.x.push_back(csv.number(cells[temperature]));
    curve.y.push_back(1000.0 * csv.number(cells[value]));
  }
  return curve;
}

}  // namespace

std::optional<io::Series> heat_capacity_curve(const std::string& folder) {
  const std::string path = folder + "/heat_capacity.csv";
  if (!std::filesystem::exists(path)) return std::nullopt;
  io::CsvReader csv(path);
  const bool of_rings = csv.has_column("difference_quotient_kcal_per_mol_K");
  const std::string name = of_rings ? "difference_quotient" : "heat_capacity";
  const std::size_t temperature = csv.column("temperature_K");
  const std::size_t value = csv.column(name + "_kcal_per_mol_K");
  const std::size_t error = csv.column(name + "_err");
  io::Series curve;
  curve.label = of_rings ? "difference quotient" : "all temperatures";
  if (of_rings) curve.style = io::Series::Style::marked_line;
  std::vector<double> errors;
  Cells cells;
  while (csv.next(cells)) {
    if (of_rings && !std::isfinite(csv.number(cells[value]))) continue;
    curve.x.push_back(csv.number(cells[temperature]));
    curve.y.push_back(1000.0 * csv.number(cells[value]));
    errors.push_back(1000.0 * csv.number(cells[error]));
  }
  if (curve.x.empty()) return std::nullopt;
  curve.set_error(errors);
  return curve;
}

Pictures draw_baths(const std::string& folder, const io::PictureFormats& formats) {
  struct Panel {
    std::string_view quantity, y_label;
    double unit;
  };
  constexpr std::array<Panel, 6> panels{
      {{"potential_kcal_per_mol", "potential (kcal/mol)", 1.0},
       {"heat_capacity_kcal_per_mol_K", "heat capacity (cal/mol/K)", 1000.0},
       {"hydrogen_bonds", "hydrogen bonds", 1.0},
       {"lindemann", "Lindemann index", 1.0},
       {"kinetic_o_meV", "kinetic energy of O (meV)", 1.0},
       {"kinetic_h_meV", "kinetic energy of H (meV)", 1.0}}};
  io::CsvReader csv(folder + "/averages.csv");
  if (!csv.has_column("bath_K")) return {};
  const std::size_t table = csv.column("table"), quantity = csv.column("quantity");
  const std::size_t bath = csv.column("bath_K");
  const std::size_t mean = csv.column("mean"), error = csv.column("error");
  const std::size_t converged = csv.column("converged");
  std::array<io::Series, panels.size()> curves;
  std::array<std::vector<double>, panels.size()> errors;
  std::array<std::string, panels.size()> tables;  // several may have a quantity: the first is drawn
  bool all_converged = true;
  Cells cells;
  while (csv.next(cells)) {
    for (std::size_t p = 0; p < panels.size(); ++p) {
      if (cells[quantity] != panels[p].quantity) continue;
      if (tables[p].empty()) tables[p] = cells[table];
      if (cells[table] != tables[p]) continue;
      io::Series& curve = curves[p];
      const bool good = csv.number(cells[converged]) != 0.0;
      curve.x.push_back(csv.number(cells[bath]));
      curve.y.push_back(panels[p].unit * csv.number(cells[mean]));
      errors[p].push_back(panels[p].unit * csv.number(cells[error]));
      curve.marks.emplace_back(mark_of_lower_bound(good));
      all_converged = all_converged && good;
    }
  }
  std::vector<io::Plot> plots;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    if (curves[p].x.size() < 3) continue;
    io::Plot& plot = plots.emplace_back();
    plot.title = title_of("Averages against temperature", csv.provenance());
    plot.x_label = "temperature (K)";
    plot.y_label = panels[p].y_label;
    curves[p].style = io::Series::Style::marked_line;
    curves[p].set_error(errors[p]);
    if (panels[p].quantity == "heat_capacity_kcal_per_mol_K") {
      if (auto curve = heat_capacity_curve(folder)) {
        const bool of_rings = curve->style == io::Series::Style::marked_line;
        if (!of_rings) curves[p].style = io::Series::Style::points;
        curves[p].label = of_rings ? "covariance" : "single temperatures";
        plot.series.push_back(std::move(*curve));
      }
      if (auto classical = classical_heat_capacity_curve(folder)) {
        plot.series.push_back(std::move(*classical));
      }
    }
    if (panels[p].quantity.starts_with("kinetic_")) {
      io::Series& classical = plot.series.emplace_back();
      classical.label = "classical nuclei, 3/2 kT";
      classical.colour = "#888888";
      classical.dashed = true;
      classical.x = curves[p].x;
      for (const double bath_K : classical.x) {
        classical.y.push_back(1.5 * units::boltzmann_kcal_per_mol_K * bath_K *
                              units::meV_per_kcal_per_mol);
      }
      curves[p].label = "centroid virial";
    }
    plot.series.push_back(std::move(curves[p]));
  }
  if (plots.empty()) return {};
  plots.back().x_label += "     bars, band: standard error";
  if (!all_converged) plots.back().x_label += kLowerBoundExplained;
  return pictures_of(io::draw(plots, folder + "/baths", formats));
}

Pictures draw_exchange(const std::string& folder, const io::PictureFormats& formats) {
  std::vector<io::Plot> plots(2);
  io::CsvReader pairs(folder + "/exchange.csv");
  const std::size_t lower = pairs.column("lower_bath_K"), upper = pairs.column("upper_bath_K");
  const std::size_t attempts = pairs.column("attempts");
  const std::size_t acceptance = pairs.column("acceptance"), err = pairs.column("acceptance_err");
  plots[0].title = title_of("Replica exchange", pairs.provenance());
  plots[0].x_label = "mean temperature of the pair (K)     bars: standard error";
  plots[0].y_label = "acceptance";
  plots[0].y_range = {{0.0, 1.0}};
  io::Series& accepted = plots[0].series.emplace_back();
  accepted.style = io::Series::Style::marked_line;
  std::vector<double> errors;
  Cells cells;
  while (pairs.next(cells)) {
    if (pairs.number(cells[attempts]) == 0.0) continue;
    accepted.x.push_back(0.5 * (pairs.number(cells[lower]) + pairs.number(cells[upper])));
    accepted.y.push_back(pairs.number(cells[acceptance]));
    errors.push_back(pairs.number(cells[err]));
  }
  accepted.set_error(errors);

  // More curves would be indistinguishable.
  constexpr std::size_t kMostWalkers = 3;
  io::CsvReader walkers(folder + "/walkers.csv");
  const std::size_t time = walkers.column("time_ps");
  const std::size_t first = walkers.column("walker_0_bath_K");
  const std::size_t count = walkers.header().size() - first;
  const std::size_t shown = std::min(count, kMostWalkers);
  plots[1].x_label = "time (ps)     walkers of the first ladder, labelled by initial temperature";
  plots[1].y_label = "temperature (K)";
  plots[1].series.resize(shown);
  bool labelled = false;
  while (walkers.next(cells)) {
    for (std::size_t w = 0; w < shown; ++w) {
      const std::size_t walker = w * (count - 1) / (shown - 1);
      io::Series& series = plots[1].series[w];
      const double bath_K = walkers.number(cells[first + walker]);
      if (!labelled) series.label = fmt::format("{:g} K", bath_K);
      series.x.push_back(walkers.number(cells[time]));
      series.y.push_back(bath_K);
    }
    labelled = true;
  }
  const std::size_t rows = plots[1].series.empty() ? 0 : plots[1].series[0].x.size();
  std::ranges::for_each(plots[1].series, smooth);
  if (!plots[1].series.empty() && plots[1].series[0].x.size() < rows) {
    plots[1].y_label = "mean temperature (K)";
  }
  return pictures_of(io::draw(plots, folder + "/exchange", formats));
}

Pictures draw_modes_table(const std::string& table, const std::string& path_without_extension,
                          const io::PictureFormats& formats) {
  io::CsvReader csv(table);
  const std::size_t wavenumber = csv.column("wavenumber_per_cm");
  const std::size_t intensity = csv.column("ir_intensity_km_per_mol");
  const std::size_t first_share = csv.column("translation");
  struct Kind {
    std::string_view label, colour;
  };
  constexpr std::array<Kind, 3> kinds{
      {{"translation", "#0072B2"}, {"rotation", "#D55E00"}, {"bond vibration", "#009E73"}}};
  std::array<io::Series, kinds.size()> sticks;
  Cells cells;
  while (csv.next(cells)) {
    const double per_cm = csv.number(cells[wavenumber]);
    const double km_per_mol = csv.number(cells[intensity]);
    if (per_cm == 0.0 || std::isnan(km_per_mol)) continue;
    std::size_t most = 0;
    for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
      if (csv.number(cells[first_share + kind]) > csv.number(cells[first_share + most])) {
        most = kind;
      }
    }
    sticks[most].x.push_back(per_cm);
    sticks[most].y.push_back(km_per_mol);
  }
  std::vector<io::Plot> plots;
  const auto add = [&](std::size_t first, std::size_t count) {
    io::Plot plot;
    plot.title = title_of("Normal modes", csv.provenance());
    plot.x_label = "wavenumber (cm⁻¹)";
    plot.y_label = "intensity (km/mol)";
    double low = 0.0, high = 0.0, top = 0.0;
    for (std::size_t kind = first; kind < first + count; ++kind) {
      io::Series& series = sticks[kind];
      if (series.x.empty()) continue;
      series.label = kinds[kind].label;
      series.colour = kinds[kind].colour;
      series.style = io::Series::Style::sticks;
      const auto [least, most] = std::minmax_element(series.x.begin(), series.x.end());
      low = std::min(low, *least);
      high = std::max(high, *most);
      top = std::max(top, *std::max_element(series.y.begin(), series.y.end()));
      plot.series.push_back(std::move(series));
    }
    if (plot.series.empty()) return;
    if (low < 0.0) plot.x_label += "     negative: imaginary";
    plot.x_range = {{1.05 * low, 1.05 * high}};
    plot.y_range = {{0.0, top > 0.0 ? 1.08 * top : 1.0}};
    plots.push_back(std::move(plot));
  };
  add(0, 2);
  add(2, 1);
  if (plots.empty()) {
    return {{},
            {Message::note(
                fmt::format("{} has no vibrations with an intensity and no picture", table))}};
  }
  return pictures_of(io::draw(plots, path_without_extension, formats));
}

Pictures draw_run(const std::string& folder, const io::PictureFormats& formats) {
  Pictures all;
  const auto take = [&](const Pictures& some) {
    all.paths.insert(all.paths.end(), some.paths.begin(), some.paths.end());
    append(some.messages, all.messages);
    all.failed = all.failed || some.failed;
  };
  for (const Observable& row : observables()) {
    const std::string& first = row.files.front();
    const std::string table = first.substr(0, first.find('.')) + ".csv";
    if (row.draw && std::filesystem::exists(folder + '/' + table)) {
      take(row.draw(folder, formats));
    }
  }
  for (const std::string& table : own_tables(folder)) take(draw_table(folder, table, formats));
  return all;
}

}  // namespace tarn
