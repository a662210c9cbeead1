#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "tarn/start.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

constexpr int kFewest = 2;
constexpr int kMost = 7;
constexpr std::uint64_t kSeed = 1;

struct Minimum {
  int molecules = 0;
  double energy_kcal_per_mol = 0.0;
  int searches_that_hit = 0;
  analysis::ClusterShape shape;
  double lowest_wavenumber_per_cm = 0.0;
  double zero_point_energy_kcal_per_mol = 0.0;
  std::vector<double> positions_A{};
};
Minimum find_minimum(const WaterModel& model, int molecules, int threads) {
  const LowestCluster found = lowest_cluster(model, molecules, kSeed, {.threads = threads});
  const NormalModes modes = normal_modes(model, found.positions_A);
  return {molecules,
          found.energy_kcal_per_mol,
          found.starts_that_hit,
          analysis::cluster_shape(found.positions_A),
          modes.lowest_per_cm(),
          modes.zero_point_energy_kcal_per_mol(),
          found.positions_A};
}

/// The minima of one model, from kFewest molecules on.
using Minima = std::vector<Minimum>;

void write_csv(const std::string& path, const std::vector<Minima>& of_models) {
  io::CsvFormat csv(path, {"model", "molecules", "energy_kcal_per_mol", "hydrogen_bonds",
                           "radius_of_gyration_A", "searches", "searches_that_hit",
                           "lowest_wavenumber_per_cm", "zero_point_energy_kcal_per_mol"});
  std::string text = csv.head(fmt::format(
      "tarn {}; lowest minima of rigid clusters in vacuum, all pairs, seed {}", kVersion, kSeed));
  for (std::size_t model = 0; model < of_models.size(); ++model) {
    for (const Minimum& m : of_models[model]) {
      csv.cell(kWaterModels[model].name).cell(std::int64_t{m.molecules});
      csv.cell(m.energy_kcal_per_mol).cell(std::int64_t{m.shape.hydrogen_bonds});
      csv.cell(m.shape.radius_of_gyration_A).cell(std::int64_t{default_starts(m.molecules)});
      csv.cell(std::int64_t{m.searches_that_hit}).cell(m.lowest_wavenumber_per_cm);
      csv.cell(m.zero_point_energy_kcal_per_mol);
      text += csv.row();
    }
  }
  io::write_file(path, text);
}

/// A sentence on imaginary and soft modes, and one on zero-point energies.
std::string modes_text(const std::vector<Minima>& of_models) {
  const Minimum* softest = nullptr;
  std::size_t model_of_softest = 0;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (std::size_t model = 0; model < of_models.size(); ++model) {
    for (const Minimum& m : of_models[model]) {
      if (softest == nullptr || m.lowest_wavenumber_per_cm < softest->lowest_wavenumber_per_cm) {
        softest = &m;
        model_of_softest = model;
      }
      const double share = -m.zero_point_energy_kcal_per_mol / m.energy_kcal_per_mol;
      least = std::min(least, share);
      most = std::max(most, share);
    }
  }
  return fmt::format(
      "* {} The softest mode, of {} {} molecules, is at {:.2f} cm⁻¹.\n"
      "* The energies do not include the harmonic zero-point energy, which is {:.0f} to {:.0f} % "
      "of their magnitude (`minima.csv`; `tarn modes`).\n",
      softest->lowest_wavenumber_per_cm > 0.0
          ? "All structures are minima, without imaginary modes."
          : "Some structures have imaginary modes.",
      softest->molecules, kWaterModels[model_of_softest].name, softest->lowest_wavenumber_per_cm,
      100.0 * least, 100.0 * most);
}

std::string page(const Reproduction& r, const std::vector<Minima>& of_models) {
  MarkdownTable::Cells header{"N"};
  for (const WaterModel& model : kWaterModels) header.emplace_back(model.name);
  MarkdownTable table(header);
  for (int n = kFewest; n <= kMost; ++n) {
    MarkdownTable::Cells cells{std::to_string(n)};
    for (const Minima& minima : of_models) {
      const Minimum& m = minima[static_cast<std::size_t>(n - kFewest)];
      cells.push_back(fmt::format("{:.6f} ({}, {})", m.energy_kcal_per_mol, m.shape.hydrogen_bonds,
                                  m.searches_that_hit));
    }
    table.row(cells);
  }
  const std::string items = fmt::format(
      "* Energies are in kcal/mol. In brackets: the number of hydrogen bonds, and how many of {} "
      "searches found the minimum.\n"
      "{}* A hydrogen bond has an O-O distance below 3.5 Å and an angle H-O...O below 30 "
      "degrees.\n"
      "* To find one of these clusters: `tarn cluster --molecules 7 --model tip4p --minimise -o "
      "heptamer.xyz`.\n",
      default_starts(kMost), modes_text(of_models));
  return page_head(r) + table.text() +
         "\n![Minima of two to seven molecules](minima-structures.svg)\n\n" + page_method(r, items);
}

io::Plot picture(const std::vector<Minima>& of_models) {
  io::Plot plot;
  plot.title = "Lowest minima of small rigid clusters";
  plot.x_label = "number of molecules";
  plot.y_label = "energy per molecule (kcal/mol)";
  plot.x_range = {{kFewest - 0.2, kMost + 0.2}};
  for (std::size_t model = 0; model < of_models.size(); ++model) {
    io::Series& series = plot.series.emplace_back();
    series.label = kWaterModels[model].name;
    for (const Minimum& m : of_models[model]) {
      series.x.push_back(m.molecules);
      series.y.push_back(m.energy_kcal_per_mol / m.molecules);
    }
  }
  return plot;
}

/// Clusters of a three-site and of a four-site model.
std::string structures(const std::vector<Minima>& of_models) {
  std::vector<DrawnCluster> clusters;
  for (std::size_t model = 0; model < of_models.size(); ++model) {
    const std::string_view name = kWaterModels[model].name;
    if (name != "tip3p" && name != "tip4p") continue;
    for (const Minimum& m : of_models[model]) {
      clusters.push_back({m.positions_A, fmt::format("{}, N = {}: {:.3f} kcal/mol", name,
                                                     m.molecules, m.energy_kcal_per_mol)});
    }
  }
  return structure_svg(clusters, "", kMost - kFewest + 1);
}

void make_minima_page(const Reproduction& r, const ReproduceOptions& options) {
  std::vector<Minima> of_models;
  for (const WaterModel& model : kWaterModels) {
    Minima& minima = of_models.emplace_back();
    for (int n = kFewest; n <= kMost; ++n) {
      minima.push_back(find_minimum(model, n, options.threads));
    }
  }
  write_csv(output_path(r, options, ".csv"), of_models);
  io::write_file(output_path(r, options, "-structures.svg"), structures(of_models));
  io::write_file(output_path(r, options, ".md"), page(r, of_models));
  draw_pictures(r, options, {picture(of_models)});
}

}  // namespace

Reproduction minima_page() {
  return {
      .summary =
          "The lowest minima of two to seven rigid molecules were located for every water model. "
          "Basin hopping from random clusters finds all published energies.\n\n"
          "* The energies of SPC/E are lower than those of the other published models because its "
          "charges are larger. The polarisation energy of SPC/E is not subtracted.",
      .paper =
          "Energies in kcal/mol; those of TIP3P are from an independent program:\n\n"
          "| model | N | energy |\n"
          "|---|---|---|\n"
          "| TIP4P | 2 | -6.24 |\n"
          "| SPC | 2 | -6.61 |\n"
          "| SPC/E | 2 | -7.2 |\n"
          "| TIP3P | 2 | -6.539941 |\n"
          "| TIP3P | 3 | -17.440225 |\n"
          "| TIP3P | 4 | -29.293266 |\n"
          "| TIP3P | 6 | -47.789912 |\n"
          "| TIP3P | 7 | -57.918723 |",
      .make = make_minima_page};
}

}  // namespace tarn
