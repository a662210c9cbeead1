#include <array>
#include <cmath>
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
#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/analysis/symmetry.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/xyz.hpp"
#include "tarn/modes.hpp"
#include "tarn/observe/structure_picture.hpp"
#include "tarn/thermochemistry.hpp"

namespace tarn {
namespace {

using analysis::MeanError;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A water model with temperatures around the melting of its cube; empty: those of the deck.
struct ModelRun {
  const char *name, *temperatures_K, *colour;
};
constexpr std::array<ModelRun, 2> kModels{
    {{"tip3p", "", "#2ca02c"},
     {"tip4p", "[60, 80, 105, 130, 150, 165, 178, 190, 200, 210, 220, 232, 245, 260, 280, 300]",
      "#9467bd"}}};

constexpr std::array<double, 2> kRange_K{50.0, 310.0};

/// The cubes differ in the order of their point groups.
struct Cube {
  const char* name;
  int order;
};
constexpr std::array<Cube, 2> kCubes{{{"D2d", 8}, {"S4", 4}}};

/// One cube of one model.
struct Isomer {
  int number = 0;  // in the tables of the run
  double energy_kcal_per_mol = 0.0;
  double entropy = 0.0;  // harmonic, up to a constant common to all isomers [k]
  double lowest_per_cm = 0.0;
  std::vector<double> positions_A{};
  std::map<double, MeanError> populations{};  // by bath
};
using Cubes = std::array<std::optional<Isomer>, kCubes.size()>;

struct ModelResult {
  std::set<double> baths_K;
  Cubes cubes;
};

/// ln of sqrt(Ia Ib Ic) / (h prod omega) up to a constant common to all clusters: rotation, copies
/// and vibrations of a classical cluster of rigid molecules about a minimum (equation 62).
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

Cubes read_cubes(const WaterModel& model, const std::string& folder) {
  Cubes cubes;
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
  return cubes;
}

ModelResult read_run(const WaterModel& model, const std::string& folder) {
  ModelResult result{{}, read_cubes(model, folder)};
  io::CsvReader csv(folder + "/isomers_by_bath.csv");
  const std::size_t bath = csv.column("bath_K"), isomer = csv.column("isomer");
  const std::size_t share = csv.column("share"), error = csv.column("share_err");
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const double bath_K = csv.number(cells[bath]);
    result.baths_K.insert(bath_K);
    for (std::optional<Isomer>& cube : result.cubes) {
      if (!cube || csv.number(cells[isomer]) != cube->number) continue;
      cube->populations[bath_K] = {csv.number(cells[share]), csv.number(cells[error])};
    }
  }
  return result;
}

ModelResult run_model(const Reproduction& r, const ReproduceOptions& options,
                      const ModelRun& model_run) {
  const WaterModel model = find_water_model(model_run.name).value();
  std::vector<std::string> overrides{
      fmt::format("system.model=\"{}\"", model.name),
      fmt::format("system.file=\"structures/{}-8.xyz\"", model.name)};
  if (*model_run.temperatures_K != 0) {
    overrides.push_back(fmt::format("thermostat.temperatures_K={}", model_run.temperatures_K));
  }
  ModelResult result;
  run_changed(r, options, overrides, {},
              [&](const std::string& folder) { result = read_run(model, folder); });
  return result;
}

MeanError population_of(const std::optional<Isomer>& cube, double bath_K) {
  if (!cube) return {};
  const auto at = cube->populations.find(bath_K);
  return at == cube->populations.end() ? MeanError{} : at->second;
}

/// Population of S4 over that of D2d. Errors add, since one gains what the other loses where there
/// are no other isomers.
MeanError ratio_of(const Cubes& cubes, double bath_K) {
  const MeanError d2d = population_of(cubes[0], bath_K), s4 = population_of(cubes[1], bath_K);
  if (!(d2d.mean > 0.0) || !(s4.mean > 0.0)) return {kNan, kNan};
  const double ratio = s4.mean / d2d.mean;
  return {ratio, ratio * (s4.error / s4.mean + d2d.error / d2d.mean)};
}
double harmonic_ratio(const Cubes& cubes, double bath_K) {
  if (!cubes[0] || !cubes[1]) return kNan;
  const double rise = cubes[1]->energy_kcal_per_mol - cubes[0]->energy_kcal_per_mol;
  return std::exp(cubes[1]->entropy - cubes[0]->entropy -
                  rise / (units::boltzmann_kcal_per_mol_K * bath_K));
}

/// Populations and ratios of one model by bath: rows of both tables, and curves.
class ModelTable {
 public:
  ModelTable(const ModelRun& run, const ModelResult& result, ResultPage& page) {
    for (const double bath_K : result.baths_K) add_bath(run, result.cubes, bath_K, page);
  }

  const MarkdownTable& markdown() const { return table_; }

  /// @param labelled whether the curves are in the legend
  void draw_populations(io::Plot& p, bool labelled) {
    const std::array<const char*, 3> labels{"D2d", "S4", "all others"};
    const std::array<const char*, 3> colours{"#1f77b4", "#d62728", "#888888"};
    for (std::size_t c = 0; c < populations_.size(); ++c) {
      io::Series& curve = p.series.emplace_back(populations_[c]);
      curve.label = labelled ? labels[c] : "";
      curve.colour = colours[c];
      curve.style = io::Series::Style::marked_line;
      if (c < kCubes.size()) curve.set_error(errors_[c]);
    }
  }
  void draw_ratios(io::Plot& p, const ModelRun& run) {
    measured_.label = run.name;
    measured_.style = io::Series::Style::points;
    measured_.colour = harmonic_.colour = run.colour;
    measured_.set_error(ratio_errors_);
    harmonic_.dashed = true;
    p.series.push_back(measured_);
    p.series.push_back(harmonic_);
  }

 private:
  void add_bath(const ModelRun& run, const Cubes& cubes, double bath_K, ResultPage& page) {
    MarkdownTable::Cells cells{fmt::format("{:g}", bath_K)};
    page.cells(run.name, bath_K);
    double others = 1.0;
    for (std::size_t c = 0; c < kCubes.size(); ++c) {
      const MeanError population = population_of(cubes[c], bath_K);
      others -= population.mean;
      page.cells(population);
      cells.push_back(value_and_error(population));
      add_point(populations_[c], bath_K, population.mean);
      errors_[c].push_back(population.error);
    }
    add_point(populations_.back(), bath_K, others);
    const MeanError ratio = ratio_of(cubes, bath_K);
    const double harmonic = harmonic_ratio(cubes, bath_K);
    page.csv_row(OrNan{ratio.mean}, OrNan{ratio.error}, OrNan{harmonic});
    cells.push_back(fmt::format("{:.4f}", others));
    cells.push_back(std::isnan(ratio.mean) ? "" : value_and_error(ratio));
    cells.push_back(std::isnan(harmonic) ? "" : fmt::format("{:.3f}", harmonic));
    table_.row(cells);
    add_point(measured_, bath_K, ratio.mean);
    ratio_errors_.push_back(ratio.error);
    add_point(harmonic_, bath_K, harmonic);
  }

  MarkdownTable table_{{"temperature (K)", "D2d", "S4", "others", "S4 : D2d", "harmonic S4 : D2d"}};
  std::array<io::Series, kCubes.size() + 1> populations_;
  std::array<std::vector<double>, kCubes.size()> errors_;
  io::Series measured_, harmonic_;
  std::vector<double> ratio_errors_;
};

void make_isomers_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options,
                  {"model", "bath_K", "share_D2d", "share_D2d_err", "share_S4", "share_S4_err",
                   "ratio", "ratio_err", "harmonic_ratio"});
  std::vector<io::Plot> plots;
  io::Plot ratios =
      plot("", "temperature (K)     bars: standard error     dashed: harmonic", "S4 : D2d");
  ratios.x_range = kRange_K;
  ratios.y_range = {{0.0, 6.0}};
  MarkdownTable minima({"model", "cube", "energy (kcal/mol)", "lowest mode (cm⁻¹)"});
  std::vector<DrawnCluster> drawn;
  std::string populations;
  for (const ModelRun& run : kModels) {
    const ModelResult result = run_model(r, options, run);
    for (std::size_t c = 0; c < kCubes.size(); ++c) {
      const std::optional<Isomer>& cube = result.cubes[c];
      if (!cube) continue;
      drawn.push_back({cube->positions_A, fmt::format("{}, {}", kCubes[c].name, run.name)});
      minima.row({run.name, kCubes[c].name, fmt::format("{:.4f}", cube->energy_kcal_per_mol),
                  fmt::format("{:.1f}", cube->lowest_per_cm)});
    }
    ModelTable table(run, result, page);
    populations += fmt::format("## {}\n\n{}\n", run.name, table.markdown().text());
    io::Plot& p =
        plots.emplace_back(plot("Eight molecules: populations of the two cubes", "temperature (K)",
                                fmt::format("population ({})", run.name)));
    p.y_range = {{0.0, 1.0}};
    p.x_range = kRange_K;
    table.draw_populations(p, plots.size() == 1);
    table.draw_ratios(ratios, run);
  }
  if (!drawn.empty()) {
    const std::string name = r.name + "-structures.svg";
    io::write_file(options.out_dir + "/" + name, structure_svg(drawn, ""));
    page.text(fmt::format("![The two cubes]({})\n\n", name));
  }
  page.table(minima);
  page.text(populations);
  page.method(
      "Samples are quenched and assigned to isomers by energy. The cubes are identified by the "
      "orders of their point groups, 8 and 4.");
  page.method(
      "*Harmonic* is the superposition approximation for rigid molecules ([equation "
      "62](../equations-observables.md#minima-and-normal-modes)): exp(-ΔE/kT) times the ratios of "
      "the frequencies (`tarn modes`), the moments of inertia and the numbers of copies, 2 : 1.");
  page.method("To run one model alone: `tarn run inputs/isomers8.toml`.");
  plots.push_back(std::move(ratios));
  page.write(plots);
}

}  // namespace

Reproduction isomers_page() {
  return {
      .deck = "isomers8.toml",
      .summary =
          "Populations of the two cubes of eight molecules were measured between 60 and 300 K. "
          "The more populated cube of TIP3P changes from D2d to S4 at about 86 K; for TIP4P it is "
          "S4 at all temperatures.\n\n"
          "* D2d is the global minimum of TIP3P. S4 is 0.26 kcal/mol higher, but has twice as "
          "many copies and softer modes. Its population equals that of D2d at 86 K and is larger "
          "from about 100 K on; at 104 K the ratio is 1.37 ± 0.16. Both cubes melt at about 115 "
          "K.\n"
          "* S4 is the global minimum of TIP4P, by 0.03 kcal/mol. Its population is 2.5 times "
          "that of D2d up to 180 K.\n"
          "* At 60 K both ratios agree with the harmonic superposition within their errors. At "
          "higher temperatures the population of S4 exceeds the harmonic prediction; at 300 K the "
          "ratio is twice the harmonic one.",
      .make = make_isomers_page};
}

}  // namespace tarn
