#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "quantum_run.hpp"
#include "result_page.hpp"
#include "work_folder.hpp"

namespace tarn {
namespace {

using analysis::BeadLimit;
using analysis::MeanError;

const std::vector<double> kTemperatures_K{25.0, 50.0, 100.0, 200.0, 300.0};
const std::vector<double> kBeadsTimesK{2000.0, 4000.0, 8000.0, 16'000.0, 24'000.0};
/// The table of the page reports the number of beads for these errors.
constexpr std::array kWithin{0.05, 0.02, 0.01};

struct Quantity {
  std::string_view column, name, heading;
};
constexpr std::array kQuantities{
    Quantity{"kinetic_h_meV", "kinetic energy of H", "K of H (meV)"},
    Quantity{"energy_virial_kcal_per_mol", "energy", "energy (kcal/mol)"},
};

/// Averages at one temperature, by the number of beads.
struct Series {
  double temperature_K = 0.0;
  CompareResult compared;
  std::array<BeadLimit, kQuantities.size()> limits{};
};

Series run_series(const Reproduction& r, const ReproduceOptions& options, double temperature_K) {
  Series s;
  s.temperature_K = temperature_K;
  std::vector<int> beads;
  for (const double product : kBeadsTimesK) beads.push_back(beads_for(product, temperature_K));
  Deck deck = page_deck(r, options, ring_overrides(temperature_K, beads.back()));
  deck.run.steps = std::llround(options.share_of_time * static_cast<double>(deck.run.steps));
  deck.run.equilibration_ps *= options.share_of_time;
  const WorkFolder folder(output_path(r, options, ""));
  CompareOptions compare = compare_options(options, folder.path());
  compare.beads = beads;
  s.compared = compare_schemes(deck, {"verlet"}, compare);
  for (std::size_t q = 0; q < kQuantities.size(); ++q) {
    const auto found = std::ranges::find(s.compared.bead_limits, kQuantities[q].column,
                                         &SchemeBeadLimit::quantity);
    if (found != s.compared.bead_limits.end()) s.limits[q] = found->fit;
  }
  return s;
}

/// The energy above that of classical nuclei, of which errors are fractions.
MeanError quantum_part(std::size_t q, const MeanError& value,
                       const MeanError& classical_kcal_per_mol) {
  if (q == 0) return value;
  return {value.mean - classical_kcal_per_mol.mean,
          std::hypot(value.error, classical_kcal_per_mol.error)};
}

/// 1 - value/limit with its error.
struct Shortfall {
  double beads_times_K = 0.0;
  MeanError value;
};
std::vector<Shortfall> shortfalls(const Series& s, std::size_t q, const MeanError& classical) {
  const MeanError limit = quantum_part(q, s.limits[q].limit, classical);
  std::vector<Shortfall> all;
  for (const SchemeResult& scheme : s.compared.schemes) {
    if (scheme.rings.empty()) continue;
    const MeanError v = quantum_part(q, average_of(scheme.rings, kQuantities[q].column), classical);
    all.push_back({scheme.beads * s.temperature_K,
                   {1.0 - v.mean / limit.mean, std::abs(v.error / limit.mean)}});
  }
  return all;
}

/// The least P T down to which the fit is within a fraction of its limit.
double beads_times_K_within(const Series& s, std::size_t q, const MeanError& classical,
                            double fraction) {
  constexpr double kFactor = 1.01;
  const BeadLimit& fit = s.limits[q];
  const double most = fraction * std::abs(quantum_part(q, fit.limit, classical).mean);
  double beads = 10.0 * kBeadsTimesK.back() / s.temperature_K;
  while (beads > 1.0 && std::abs(fit.limit.mean - fit.at(beads / kFactor)) <= most) {
    beads /= kFactor;
  }
  return beads * s.temperature_K;
}

MeanError classical_energy(const Reproduction& r, const ReproduceOptions& options,
                           double temperature_K) {
  const RunResult run =
      run_quantum(r, options, {fmt::format("thermostat.temperature_K={}", temperature_K)},
                  {"path_integral", "observe.path_integral"}, {});
  return average_of(run.averages, "total_kcal_per_mol");
}

io::Plot panel(const std::vector<Series>& all, const std::vector<MeanError>& classical,
               std::size_t q) {
  io::Plot p = log_plot("", "", fmt::format("error of the {}", kQuantities[q].name));
  p.height_pixels = 340;
  for (std::size_t t = 0; t < all.size(); ++t) {
    io::Series& s = add_curve(p, fmt::format("{:g} K", all[t].temperature_K));
    s.colour = io::palette_colour(t);
    for (const Shortfall& point : shortfalls(all[t], q, classical[t])) {
      const double v = std::abs(point.value.mean), e = point.value.error;
      // Points whose error is as large as they are have no place on a logarithmic axis.
      if (v > e) add_point(s, point.beads_times_K, v, v - e, v + e);
    }
  }
  return p;
}

void make_ring_beads_page(const Reproduction& r, const ReproduceOptions& options) {
  std::vector<Series> all;
  std::vector<MeanError> classical;
  for (const double t_K : page_temperatures(kTemperatures_K, options)) {
    all.push_back(run_series(r, options, t_K));
    classical.push_back(classical_energy(r, options, t_K));
  }
  ResultPage page(r, options,
                  {"bath_K", "beads", "kinetic_h_meV", "kinetic_h_meV_err",
                   "energy_virial_kcal_per_mol", "energy_virial_kcal_per_mol_err"});
  MarkdownTable values(
      {"T (K)", "P", "P T (K)", "K of H (meV)", "error (%)", "energy (kcal/mol)", "error (%)"});
  MarkdownTable needed(
      {"T (K)", "K of H to 5 %", "to 2 %", "to 1 %", "energy to 5 %", "to 2 %", "to 1 %"});
  for (std::size_t t = 0; t < all.size(); ++t) {
    const Series& s = all[t];
    std::array<std::vector<Shortfall>, kQuantities.size()> errors;
    for (std::size_t q = 0; q < kQuantities.size(); ++q) errors[q] = shortfalls(s, q, classical[t]);
    std::size_t row = 0;
    for (const SchemeResult& scheme : s.compared.schemes) {
      if (scheme.rings.empty()) continue;
      page.cells(s.temperature_K, scheme.beads);
      MarkdownTable::Cells cells{fmt::format("{:g}", s.temperature_K), std::to_string(scheme.beads),
                                 fmt::format("{:g}", scheme.beads * s.temperature_K)};
      for (std::size_t q = 0; q < kQuantities.size(); ++q) {
        const MeanError v = average_of(scheme.rings, kQuantities[q].column);
        page.cells(v);
        cells.push_back(value_and_error(v));
        cells.push_back(fmt::format("{:.1f}", 100.0 * errors[q][row].value.mean));
      }
      page.csv_row();
      values.row(cells);
      ++row;
    }
    MarkdownTable::Cells limit_cells{fmt::format("{:g}", s.temperature_K), "∞", ""};
    page.cells(s.temperature_K, 0);
    for (std::size_t q = 0; q < kQuantities.size(); ++q) {
      limit_cells.push_back(value_and_error(s.limits[q].limit));
      limit_cells.emplace_back("");
      page.cells(OrNan{s.limits[q].limit.mean}, OrNan{s.limits[q].limit.error});
    }
    page.csv_row();
    values.row(limit_cells);
    MarkdownTable::Cells cells{fmt::format("{:g}", s.temperature_K)};
    for (std::size_t q = 0; q < kQuantities.size(); ++q) {
      for (const double fraction : kWithin) {
        const double product = beads_times_K_within(s, q, classical[t], fraction);
        cells.push_back(fmt::format("{:.0f} (P = {:.0f})", 100.0 * std::round(product / 100.0),
                                    std::ceil(product / s.temperature_K)));
      }
    }
    needed.row(cells);
  }
  page.text("## P T required for an accuracy\n\n");
  page.table(needed);
  page.text("## Averages\n\n");
  page.table(values);
  const Deck deck = page_deck(r, options);
  page.method(fmt::format(
      "{} replicas; {:g} ps after an equilibration of {:g} ps. Values for infinitely many beads "
      "(0 beads in the CSV table) are extrapolated by a + c₁/P² + c₂/P⁴ ([equation "
      "(84)](../equations-observables.md)). Errors of the energy are fractions of its difference "
      "from the energy of classical nuclei. The picture omits errors smaller than their standard "
      "error.",
      deck.system.replicas,
      static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3 -
          deck.run.equilibration_ps,
      deck.run.equilibration_ps));
  std::vector<io::Plot> panels;
  for (std::size_t q = 0; q < kQuantities.size(); ++q) panels.push_back(panel(all, classical, q));
  panels.front().title = r.title;
  panels.back().x_label = "P T (K)";
  page.write(panels);
}

}  // namespace

Reproduction ring_beads_page() {
  return {
      .deck = "pimd8.toml",
      .overrides = {"run.duration_ps=14", "run.equilibration_ps=4"},
      .summary =
          "Eight q-TIP4P/F molecules were run at 25 to 300 K with different numbers of beads P. "
          "The relative error of K, the mean kinetic energy of a hydrogen, depends on P T only: an "
          "error of 1 % needs P T = 16 000 K at all temperatures.\n\n"
          "* The energy above that of classical nuclei has the same relative error.\n"
          "* At P T = 8000 K the error is 3.7 %, at 4000 K 12 %, and at 2000 K 29 %.\n"
          "* Extrapolation to infinitely many beads gives the kinetic energy with a standard error "
          "of 0.05 to 0.07 %.",
      .make = make_ring_beads_page};
}

}  // namespace tarn
