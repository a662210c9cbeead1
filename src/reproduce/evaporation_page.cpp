#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/analysis/survival.hpp"
#include "tarn/core/units.hpp"
#include "work_folder.hpp"

namespace tarn {
namespace {

using analysis::Exposure;
using analysis::Rate;
using analysis::rate_of;

constexpr double kUsualFriction_per_ps = 0.5;

struct Case {
  std::string scheme, label;
  double timestep_fs, friction_per_ps;
  std::vector<std::string> overrides;

  /// Whether the case belongs to the series of frictions.
  bool is_of_friction() const { return scheme == "settle" && timestep_fs == 2.0; }
  bool is_usual() const { return is_of_friction() && friction_per_ps == kUsualFriction_per_ps; }
};

/// The usual case is the first.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double friction_per_ps : {kUsualFriction_per_ps, 0.02, 0.1, 2.0, 10.0}) {
    all.push_back({"settle", "settle", 2.0, friction_per_ps, {}});
  }
  all.push_back({"settle", "settle", 4.0, kUsualFriction_per_ps, {"integrator.timestep_fs=4"}});
  for (const char* omega : {"500", "100", "20"}) {
    all.push_back({fmt::format("zss-stiff:omega={}", omega),
                   fmt::format("zss-stiff, ω = {}", omega),
                   2.0,
                   kUsualFriction_per_ps,
                   {"integrator.scheme=zss-stiff", fmt::format("integrator.omega={}", omega)}});
  }
  for (Case& c : all) {
    c.overrides.push_back(fmt::format("thermostat.friction_per_ps={}", c.friction_per_ps));
  }
  return all;
}

std::string text_of(const Rate& r) { return value_and_error(r.value, r.error); }
double kT(double bath_K) { return units::boltzmann_kcal_per_mol_K * bath_K; }

/// Departures of the clusters of one bath.
struct Bath {
  Exposure exposure{};  // [ns]
  double single = 0.0, returns = 0.0;
  double kinetic = 0.0, leaving = 0.0, leaving_error = 0.0, whole = 0.0;  // [kcal/mol]

  /// The rate of departures without a return.
  Rate escape_rate() const {
    return rate_of({exposure.events - static_cast<std::int64_t>(returns), exposure.time});
  }
};
using Baths = std::map<double, Bath>;  // by temperature
using Results = std::vector<std::pair<Case, Baths>>;

Baths read_baths(const std::string& folder) {
  Baths baths;
  io::CsvReader csv(folder + "/evaporation_rates.csv");
  std::vector<std::string_view> cells;
  const auto number = [&](std::string_view column) {
    const std::string_view cell = cells[csv.column(column)];
    return cell == "nan" ? std::nan("") : csv.number(cell);
  };
  while (csv.next(cells)) {
    baths[number("bath_K")] = {{static_cast<std::int64_t>(number("departures")), number("time_ns")},
                               number("of_one_molecule"),
                               number("returns"),
                               number("relative_kinetic_kcal_per_mol"),
                               number("potential_leaving_kcal_per_mol"),
                               number("potential_leaving_err"),
                               number("potential_whole_kcal_per_mol")};
  }
  return baths;
}

/// Equilibrates clusters that a wall keeps together.
void prepare(const Reproduction& r, const ReproduceOptions& options, const std::string& folder) {
  constexpr double kDuration_ps = 100.0;
  run_page_deck(load_deck(options.inputs_dir + "/" + r.deck,
                          {"confinement.radius_A=6", "confinement.stiffness_kcal_per_mol_A2=5",
                           fmt::format("run.duration_ps={}", options.share_of_time * kDuration_ps),
                           "run.equilibration_ps=0"},
                          {"observe.evaporation"}),
                options, folder);
}

Results run_cases(const Reproduction& r, const ReproduceOptions& options) {
  const WorkFolder start(output_path(r, options, "-start"));
  prepare(r, options, start.path());
  Results results;
  for (const Case& c : cases()) {
    std::vector<std::string> overrides = c.overrides;
    overrides.push_back(
        fmt::format("system.state=\"{}\"", std::filesystem::absolute(start.path()).string()));
    overrides.insert(overrides.end(), {"system.seed=2", "run.equilibration_ps=2"});
    Baths baths;
    run_changed(r, options, overrides, {},
                [&](const std::string& folder) { baths = read_baths(folder); });
    results.emplace_back(c, std::move(baths));
  }
  return results;
}

std::optional<analysis::ArrheniusFit> fit(const Baths& baths) {
  std::vector<double> betas;
  std::vector<Exposure> exposures;
  for (const auto& [bath_K, bath] : baths) {
    betas.push_back(1.0 / kT(bath_K));
    exposures.push_back(bath.exposure);
  }
  return analysis::fit_arrhenius(betas, exposures);
}

/// Departures, divided by the number that the rates of the usual case would have given.
Rate ratio_of(const Baths& baths, const Baths& usual) {
  double events = 0.0, expected = 0.0, of_usual = 0.0;
  for (const auto& [bath_K, bath] : baths) {
    const auto other = usual.find(bath_K);
    if (other == usual.end()) continue;
    events += static_cast<double>(bath.exposure.events);
    expected += bath.exposure.time * rate_of(other->second.exposure).value;
    of_usual += static_cast<double>(other->second.exposure.events);
  }
  const double ratio = events / expected;
  return {ratio, ratio * std::sqrt(1.0 / std::max(events, 1.0) + 1.0 / std::max(of_usual, 1.0))};
}

/// Over all baths: mean kinetic energy at departure in units of kT, and the share of returns.
struct Departures {
  double kinetic_kT = 0.0, returned = 0.0;
};
Departures departures_of(const Baths& baths) {
  double kinetic = 0.0, events = 0.0, returns = 0.0;
  for (const auto& [bath_K, bath] : baths) {
    if (bath.exposure.events == 0) continue;
    kinetic += static_cast<double>(bath.exposure.events) * bath.kinetic / kT(bath_K);
    events += static_cast<double>(bath.exposure.events);
    returns += bath.returns;
  }
  return {kinetic / events, returns / events};
}

/// The cells `first`, one per bath, and `last`.
template <class CellOf>
MarkdownTable::Cells by_bath(MarkdownTable::Cells first, const Baths& baths, const CellOf& cell_of,
                             const MarkdownTable::Cells& last = {}) {
  for (const auto& [bath_K, bath] : baths) first.push_back(cell_of(bath_K, bath));
  first.insert(first.end(), last.begin(), last.end());
  return first;
}
std::string temperature_text(double bath_K, const Bath&) { return fmt::format("{:g} K", bath_K); }

MarkdownTable rate_table(const Results& results, const Baths& usual) {
  MarkdownTable table(
      by_bath({"scheme", "step (fs)", "friction (1/ps)"}, usual, temperature_text,
              {"activation energy (kcal/mol)", "χ² (6 degrees of freedom)", "pooled ratio"}));
  for (const auto& [c, baths] : results) {
    const auto line = fit(baths);
    table.row(by_bath(
        {c.label, fmt::format("{:g}", c.timestep_fs), fmt::format("{:g}", c.friction_per_ps)},
        baths, [](double, const Bath& bath) { return text_of(rate_of(bath.exposure)); },
        {line ? value_and_error(line->activation, line->activation_error) : "?",
         line ? fmt::format("{:.0f}", line->deviance) : "?",
         c.is_usual() ? "1" : text_of(ratio_of(baths, usual))}));
  }
  return table;
}

MarkdownTable escape_table(const Results& results, const Baths& usual) {
  MarkdownTable table(
      by_bath({"friction (1/ps)"}, usual, temperature_text, {"returned", "kinetic energy (kT)"}));
  for (const auto& [c, baths] : results) {
    if (!c.is_of_friction()) continue;
    const Departures departures = departures_of(baths);
    table.row(by_bath({fmt::format("{:g}", c.friction_per_ps)}, baths,
                      [](double, const Bath& bath) { return text_of(bath.escape_rate()); },
                      {fmt::format("{:.0f} %", 100.0 * departures.returned),
                       fmt::format("{:.2f}", departures.kinetic_kT)}));
  }
  return table;
}

MarkdownTable energy_table(const Baths& usual) {
  MarkdownTable table(by_bath({"(kcal/mol)"}, usual, temperature_text));
  table.row(by_bath({"⟨V₀⟩ of intact clusters"}, usual,
                    [](double, const Bath& bath) { return fmt::format("{:.2f}", bath.whole); }));
  table.row(by_bath({"⟨V₀⟩ with the molecule at 8 Å"}, usual, [](double, const Bath& bath) {
    return value_and_error(bath.leaving, bath.leaving_error);
  }));
  table.row(
      by_bath({"activation energy by equation (73)"}, usual, [](double bath_K, const Bath& bath) {
        return value_and_error(bath.leaving - bath.whole + 0.5 * kT(bath_K), bath.leaving_error);
      }));
  table.row(
      by_bath({"evaporation events of single molecules"}, usual, [](double, const Bath& bath) {
        return fmt::format("{:.0f} %",
                           100.0 * bath.single / static_cast<double>(bath.exposure.events));
      }));
  return table;
}

void add_rate(double x, const Rate& y, io::Series& series) {
  if (y.value == 0.0) return;
  const double relative = y.error / y.value;  // that of the logarithm: bars end above 0
  add_point(series, x, y.value, y.value * std::exp(-relative), y.value * std::exp(relative));
}

/// Rates against the temperature, a curve per friction.
io::Plot temperature_panel(const Reproduction& r, const Results& results) {
  io::Plot p = plot(r.title, "1000 K / T     bars: standard error of the logarithm", "rate (1/ns)");
  p.log_y = true;
  for (const auto& [c, baths] : results) {
    if (!c.is_of_friction()) continue;
    io::Series& curve = add_curve(p, fmt::format("{:g}/ps", c.friction_per_ps));
    for (const auto& [bath_K, bath] : baths) {
      add_rate(1000.0 / bath_K, rate_of(bath.exposure), curve);
    }
  }
  return p;
}

/// Rates against the friction for every second bath: all departures, and dashed those without a
/// return.
io::Plot friction_panel(const Reproduction& r, const Results& results, const Baths& usual) {
  io::Plot p = log_plot(r.title, "friction (1/ps)     dashed: without a return", "rate (1/ns)");
  bool shown = false;
  for (const auto& bath : usual) {
    const double bath_K = bath.first;
    shown = !shown;
    if (!shown) continue;
    const std::string colour = io::palette_colour(p.series.size() / 2);
    io::Series departures, escapes;
    departures.label = fmt::format("{:g} K", bath_K);
    departures.colour = escapes.colour = colour;
    departures.style = escapes.style = io::Series::Style::marked_line;
    escapes.dashed = true;
    for (const auto& [c, baths] : results) {
      if (!c.is_of_friction()) continue;
      add_rate(c.friction_per_ps, rate_of(baths.at(bath_K).exposure), departures);
      add_rate(c.friction_per_ps, baths.at(bath_K).escape_rate(), escapes);
    }
    p.series.push_back(std::move(departures));
    p.series.push_back(std::move(escapes));
  }
  return p;
}

void make_evaporation_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(
      r, options,
      {"scheme", "timestep_fs", "friction_per_ps", "bath_K", "departures", "of_one_molecule",
       "returns", "time_ns", "rate_per_ns", "rate_err", "relative_kinetic_kcal_per_mol",
       "potential_leaving_kcal_per_mol", "potential_leaving_err", "potential_whole_kcal_per_mol"});
  Results results = run_cases(r, options);
  for (const auto& [c, baths] : results) {
    for (const auto& [bath_K, bath] : baths) {
      const Rate rate = rate_of(bath.exposure);
      page.csv_row(c.scheme, c.timestep_fs, c.friction_per_ps, bath_K, bath.exposure.events,
                   static_cast<std::int64_t>(bath.single), static_cast<std::int64_t>(bath.returns),
                   bath.exposure.time, OrNan{rate.value}, OrNan{rate.error}, OrNan{bath.kinetic},
                   OrNan{bath.leaving}, OrNan{bath.leaving_error}, OrNan{bath.whole});
    }
  }
  const Baths usual = results.front().second;
  std::sort(results.begin(), results.begin() + 5, [](const auto& a, const auto& b) {
    return a.first.friction_per_ps < b.first.friction_per_ps;
  });
  page.text("Rates (1/ns) at which intact clusters lose their first molecule:\n\n");
  page.table(rate_table(results, usual));
  page.text("Rates (1/ns) of departures without return:\n\n");
  page.table(escape_table(results, usual));
  page.text(
      "Energies with a friction of 0.5/ps ([equation "
      "(73)](../equations-observables.md#evaporation)):\n\n");
  page.table(energy_table(usual));
  page.method(
      "Clusters are equilibrated for 100 ps inside a wall of 6 Å. The wall is then removed, and "
      "departures count after 2 ps.");
  page.method(
      "A cluster has lost a molecule when the molecule is farther away than 8 Å. It has returned "
      "if the cluster is intact again before the run ends.");
  page.method("The activation energy is fitted to all baths. χ² is that of the fitted line.");
  page.method(
      "The pooled ratio is the number of departures divided by the number expected from the rates "
      "of SETTLE with 2 fs and 0.5/ps.");
  page.method(
      "The kinetic energy is that of the departing molecule relative to the rest; in equilibrium "
      "it is 2 kT.");
  page.write({temperature_panel(r, results), friction_panel(r, results, usual)});
}

}  // namespace

Reproduction evaporation_page() {
  return {
      .deck = "evaporation7.toml",
      .summary =
          "Evaporation rates of equilibrated clusters of seven molecules were measured from 220 "
          "to 325 K. They span two orders of magnitude and follow the Arrhenius law.\n\n"
          "* With a friction of 0.5/ps the activation energy is 6.8 ± 0.2 kcal/mol. Equation (73) "
          "gives 7.0 to 7.4 ± 0.25 kcal/mol at most temperatures.\n"
          "* Escape without return is fastest with a friction of 0.1 to 0.5/ps, as Kramers' "
          "theory predicts.\n"
          "* With less friction, the bath reheats the remaining clusters slowly, and departing "
          "molecules carry less than 2 kT.\n"
          "* With more friction, more molecules return: 88 % of them at 10/ps.\n"
          "* Rates with SETTLE at 4 fs agree with those at 2 fs to 4 %, and rates with Z&Ss and ω "
          "= 500 or 100 agree with them to 5 %.\n"
          "* With ω = 20 the bonds are too soft, molecules attract each other more strongly, and "
          "the rates are 0.59 ± 0.02 times those of SETTLE.",
      .make = make_evaporation_page};
}

}  // namespace tarn
