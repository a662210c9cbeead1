#include "isomers_figure.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "figure_page.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/analysis/symmetry.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "tarn/thermochemistry.hpp"

namespace tarn {
namespace {

/// A model with a start and a ladder of temperatures about where its cube melts; empty: the deck's.
struct Model {
  const char* name;
  const char* temperatures_K;
};
constexpr std::array<Model, 2> kModels{
    {{"tip3p", ""},
     {"tip4p", "[60, 80, 105, 130, 150, 165, 178, 190, 200, 210, 220, 232, 245, 260, 280, 300]"}}};

constexpr std::array<double, 2> kRange_K{50.0, 310.0};

/// The cubes, told apart by the orders of their point groups.
struct Cube {
  const char* name;
  int order;
};
constexpr std::array<Cube, 2> kCubes{{{"D2d", 8}, {"S4", 4}}};

struct Share {
  double value = 0.0, error = 0.0;
};
/// One cube of one model.
struct Isomer {
  int number = 0;  // in the tables of the run
  double energy_kcal_per_mol = 0.0;
  double entropy = 0.0;  // harmonic, up to what all isomers have [k]
  double lowest_per_cm = 0.0;
  std::vector<double> positions_A{};
  std::map<double, Share> shares{};  // by bath
};
using Cubes = std::array<std::optional<Isomer>, kCubes.size()>;
/// What a run has found.
struct Found {
  std::set<double> baths_K;
  Cubes cubes;
};

/// ln of sqrt(Ia Ib Ic) / (h prod omega) up to what all clusters have: rotation, copies and
/// vibrations of a classical cluster of rigid molecules about a minimum (equation 62).
double harmonic_entropy(const WaterModel& model, std::span<const double> x,
                        const NormalModes& modes, int order) {
  double entropy = -std::log(order);
  for (const double constant_MHz : rigid_rotor(model, x).constants_MHz) {
    entropy -= 0.5 * std::log(constant_MHz);
  }
  for (const NormalMode& mode : modes.modes) {
    if (mode.wavenumber_per_cm > 0.0) entropy -= std::log(mode.wavenumber_per_cm);
  }
  return entropy;
}

Found read_run(const WaterModel& model, const std::string& folder) {
  Found found;
  Cubes& cubes = found.cubes;
  io::XyzReader structures(folder + "/isomers.xyz");
  for (int number = 1; const auto structure = structures.next(); ++number) {
    const int order = analysis::symmetry_order(structure->positions_A);
    for (std::size_t c = 0; c < kCubes.size(); ++c) {
      if (order != kCubes[c].order || cubes[c]) continue;
      const NormalModes modes = normal_modes(model, structure->positions_A);
      cubes[c] = Isomer{number, modes.energy_kcal_per_mol,
                        harmonic_entropy(model, structure->positions_A, modes, order),
                        modes.lowest_per_cm(), structure->positions_A};
    }
  }
  io::CsvReader csv(folder + "/isomers_by_bath.csv");
  const std::size_t bath = csv.column("bath_K"), isomer = csv.column("isomer");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const double bath_K = csv.number(cells[bath]);
    found.baths_K.insert(bath_K);
    for (std::optional<Isomer>& cube : cubes) {
      if (!cube || csv.number(cells[isomer]) != cube->number) continue;
      cube->shares[bath_K] = {csv.number(cells[share]), csv.number(cells[error])};
    }
  }
  return found;
}

Share share_of(const std::optional<Isomer>& cube, double bath_K) {
  if (!cube) return {};
  const auto at = cube->shares.find(bath_K);
  return at == cube->shares.end() ? Share{} : at->second;
}

/// How many clusters are S4 for one that is D2d. What one gains the other loses, where there are
/// no others: errors add.
Share ratio_of(const Cubes& cubes, double bath_K) {
  const Share d2d = share_of(cubes[0], bath_K), s4 = share_of(cubes[1], bath_K);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (!(d2d.value > 0.0) || !(s4.value > 0.0)) return {nan, nan};
  const double ratio = s4.value / d2d.value;
  return {ratio, ratio * (s4.error / s4.value + d2d.error / d2d.value)};
}
double harmonic_ratio(const Cubes& cubes, double bath_K) {
  if (!cubes[0] || !cubes[1]) return std::numeric_limits<double>::quiet_NaN();
  const double rise = cubes[1]->energy_kcal_per_mol - cubes[0]->energy_kcal_per_mol;
  return std::exp(cubes[1]->entropy - cubes[0]->entropy -
                  rise / (units::boltzmann_kcal_per_mol_K * bath_K));
}

std::string text_of(const Share& s) {
  return std::isnan(s.value) ? "" : value_and_error(s.value, s.error);
}

}  // namespace

void make_isomers_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options,
                  {"model", "bath_K", "share_D2d", "share_D2d_err", "share_S4", "share_S4_err",
                   "ratio", "ratio_err", "harmonic_ratio"});
  std::vector<io::Plot> plots;
  for (const Model& m : kModels) {
    plots.push_back(plot("Eight molecules: which cube they are", "temperature of the bath (K)",
                         fmt::format("share ({})", m.name)));
    plots.back().y_range = {{0.0, 1.0}};
    plots.back().x_range = kRange_K;
  }
  plots.push_back(plot("",
                       "temperature of the bath (K)     bars: standard error     dashed: harmonic",
                       "S4 for one D2d"));
  plots.back().x_range = kRange_K;
  plots.back().y_range = {{0.0, 6.0}};
  std::vector<DrawnCluster> drawn;
  for (std::size_t m = 0; m < kModels.size(); ++m) {
    const WaterModel model = find_water_model(kModels[m].name).value();
    std::vector<std::string> overrides{
        fmt::format("system.model=\"{}\"", model.name),
        fmt::format("system.file=\"structures/{}-8.xyz\"", model.name)};
    if (*kModels[m].temperatures_K != 0) {
      overrides.push_back(fmt::format("thermostat.temperatures_K={}", kModels[m].temperatures_K));
    }
    Found found;
    run_changed(r, options, overrides, {},
                [&](const std::string& folder) { found = read_run(model, folder); });
    const Cubes& cubes = found.cubes;

    page.text(fmt::format("**{}.**", model.name));
    for (std::size_t c = 0; c < kCubes.size(); ++c) {
      if (!cubes[c]) continue;
      drawn.push_back({cubes[c]->positions_A, fmt::format("{}, {}", kCubes[c].name, model.name)});
      page.text(fmt::format(" {}: {:.4f} kcal/mol, lowest mode {:.1f} cm⁻¹.", kCubes[c].name,
                            cubes[c]->energy_kcal_per_mol, cubes[c]->lowest_per_cm));
    }
    page.text(
        "\n\n| bath (K) | D2d | S4 | others | S4 : D2d | harmonic |\n|---|---|---|---|---|---|\n");
    std::array<io::Series, kCubes.size() + 1> shares;
    std::array<std::vector<double>, kCubes.size()> errors;
    io::Series measured, harmonic;
    std::vector<double> ratio_errors;
    for (const double bath_K : found.baths_K) {
      double others = 1.0;
      page.csv().cell(model.name).cell(bath_K);
      page.text(fmt::format("| {:g} |", bath_K));
      for (std::size_t c = 0; c < kCubes.size(); ++c) {
        const Share share = share_of(cubes[c], bath_K);
        others -= share.value;
        page.csv().cell(share.value).cell(share.error);
        page.text(fmt::format(" {} |", text_of(share)));
        shares[c].x.push_back(bath_K);
        shares[c].y.push_back(share.value);
        errors[c].push_back(share.error);
      }
      shares.back().x.push_back(bath_K);
      shares.back().y.push_back(others);
      const Share ratio = ratio_of(cubes, bath_K);
      const double expected = harmonic_ratio(cubes, bath_K);
      page.csv().cell_or_nan(ratio.value).cell_or_nan(ratio.error).cell_or_nan(expected);
      page.end_row();
      page.text(fmt::format(" {:.4f} | {} | {} |\n", others, text_of(ratio),
                            std::isnan(expected) ? "" : fmt::format("{:.3f}", expected)));
      measured.x.push_back(bath_K);
      measured.y.push_back(ratio.value);
      ratio_errors.push_back(ratio.error);
      harmonic.x.push_back(bath_K);
      harmonic.y.push_back(expected);
    }
    page.text("\n");
    const std::array<const char*, 3> labels{"D2d", "S4", "all others"};
    const std::array<const char*, 3> colours{"#1f77b4", "#d62728", "#888888"};
    for (std::size_t c = 0; c < shares.size(); ++c) {
      shares[c].label = m == 0 ? labels[c] : "";
      shares[c].colour = colours[c];
      shares[c].style = io::Series::Style::marked_line;
      if (c < kCubes.size()) shares[c].set_error(errors[c]);
      plots[m].series.push_back(std::move(shares[c]));
    }
    const std::array<const char*, 2> of_model{"#2ca02c", "#9467bd"};
    measured.label = model.name;
    measured.style = io::Series::Style::points;
    measured.colour = of_model[m];
    measured.set_error(ratio_errors);
    harmonic.dashed = true;
    harmonic.colour = of_model[m];
    plots.back().series.push_back(std::move(measured));
    plots.back().series.push_back(std::move(harmonic));
  }
  if (!drawn.empty()) {
    const std::string name = r.name + "-structures.svg";
    io::write_file(options.out_dir + "/" + name, structure_svg(drawn, ""));
    page.text(fmt::format("![The cubes]({})\n\n", name));
  }
  page.text(
      "Samples are quenched, and told apart by energy; the cubes are known by the orders of their "
      "point "
      "groups, 8 and 4. *Harmonic* is the superposition approximation of rigid molecules (equation "
      "62 of "
      "[equations](../equations-observables.md#minima-and-normal-modes)): exp(-ΔE/kT), the ratio "
      "of the products of "
      "the "
      "frequencies (`tarn modes`), of the moments of inertia and of the numbers of copies, 2 : 1. "
      "One "
      "model: `tarn run inputs/isomers8.toml`.\n");
  page.write(plots);
}

}  // namespace tarn
