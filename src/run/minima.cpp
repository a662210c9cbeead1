#include "minima.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "figure_page.hpp"
#include "tarn/analysis/cluster.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/start.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

constexpr int kFewest = 2;
constexpr int kMost = 7;
constexpr std::uint64_t kSeed = 1;

/// The minima of one model, from kFewest molecules on.
using Minima = std::vector<LowestCluster>;

void write_csv(const std::string& path, const std::vector<Minima>& of_models) {
  io::CsvFormat csv(path, {"model", "molecules", "energy_kcal_per_mol", "hydrogen_bonds",
                           "radius_of_gyration_A", "searches", "searches_that_hit"});
  std::string text = csv.head(fmt::format(
      "tarn {}; lowest minima of rigid clusters in vacuum, all pairs, seed {}", kVersion, kSeed));
  for (std::size_t model = 0; model < of_models.size(); ++model) {
    for (int n = kFewest; n <= kMost; ++n) {
      const LowestCluster& found = of_models[model][static_cast<std::size_t>(n - kFewest)];
      const analysis::ClusterShape shape = analysis::cluster_shape(found.positions_A);
      csv.cell(kWaterModels[model].name).cell(std::int64_t{n}).cell(found.energy_kcal_per_mol);
      csv.cell(std::int64_t{shape.hydrogen_bonds}).cell(shape.radius_of_gyration_A);
      csv.cell(std::int64_t{default_starts(n)}).cell(std::int64_t{found.starts_that_hit});
      text += csv.row();
    }
  }
  io::write_file(path, text);
}

std::string page(const Reproduction& r, const std::vector<Minima>& of_models) {
  std::string text = page_head(r, "Literature") +
                     fmt::format(
                         "Energies in kcal/mol; in brackets the number of hydrogen bonds "
                         "and how many of {} searches ended there.\n\n| N |",
                         default_starts(kMost));
  for (const WaterModel& model : kWaterModels) text += fmt::format(" {} |", model.name);
  text += "\n|---|";
  for (std::size_t model = 0; model < kWaterModels.size(); ++model) text += "---|";
  for (int n = kFewest; n <= kMost; ++n) {
    text += fmt::format("\n| {} |", n);
    for (const Minima& minima : of_models) {
      const LowestCluster& found = minima[static_cast<std::size_t>(n - kFewest)];
      text += fmt::format(" {:.6f} ({}, {}) |", found.energy_kcal_per_mol,
                          analysis::cluster_shape(found.positions_A).hydrogen_bonds,
                          found.starts_that_hit);
    }
  }
  return text +
         "\n\nA hydrogen bond is O-O below 3.5 Å with H-O...O below 30 degrees. Any of these "
         "clusters: `tarn cluster --molecules 7 --model tip4p --minimise -o heptamer.xyz`.\n";
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
    for (int n = kFewest; n <= kMost; ++n) {
      series.x.push_back(n);
      series.y.push_back(
          of_models[model][static_cast<std::size_t>(n - kFewest)].energy_kcal_per_mol / n);
    }
  }
  return plot;
}

}  // namespace

void make_minima(const Reproduction& reproduction, const ReproduceOptions& options) {
  std::vector<Minima> of_models;
  for (const WaterModel& model : kWaterModels) {
    Minima& minima = of_models.emplace_back();
    for (int n = kFewest; n <= kMost; ++n) {
      minima.push_back(lowest_cluster(model, n, kSeed, 0, {}, options.threads));
    }
  }
  const std::string base = options.out_dir + "/" + reproduction.name;
  write_csv(base + ".csv", of_models);
  io::write_file(base + ".md", page(reproduction, of_models));
  const io::Drawing drawing = io::draw(picture(of_models), base);
  if (!drawing.warning.empty() && options.on_warning) options.on_warning(drawing.warning);
}

}  // namespace tarn
