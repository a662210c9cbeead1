#include "evaporation_figure.hpp"

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
#include "figure_page.hpp"
#include "tarn/analysis/survival.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/csv.hpp"
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

  /// Whether it is one of those that differ in the friction.
  bool is_of_friction() const { return scheme == "settle" && timestep_fs == 2.0; }
  bool is_usual() const { return is_of_friction() && friction_per_ps == kUsualFriction_per_ps; }
};

/// The usual one comes first.
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

/// What became of the clusters of one bath.
struct Bath {
  Exposure exposure{};  // [ns]
  double single = 0.0, returns = 0.0;
  double kinetic = 0.0, leaving = 0.0, leaving_error = 0.0, whole = 0.0;  // [kcal/mol]
};
using Baths = std::map<double, Bath>;  // by temperature

/// Of those that were not seen to come back.
Rate escape_rate(const Bath& bath) {
  return rate_of(
      {bath.exposure.events - static_cast<std::int64_t>(bath.returns), bath.exposure.time});
}
double kT(double bath_K) { return units::boltzmann_kcal_per_mol_K * bath_K; }

Baths run_case(const Reproduction& r, const ReproduceOptions& options, const Case& c,
               const std::string& state) {
  Baths baths;
  std::vector<std::string> overrides = c.overrides;
  overrides.push_back(fmt::format("system.state=\"{}\"", state));
  overrides.insert(overrides.end(), {"system.seed=2", "run.equilibration_ps=2"});
  run_changed(r, options, overrides, {}, [&](const std::string& folder) {
    io::CsvReader csv(folder + "/evaporation_rates.csv");
    std::vector<std::string_view> cells;
    const auto number = [&](std::string_view column) {
      const std::string_view cell = cells[csv.column(column)];
      return cell == "nan" ? std::nan("") : csv.number(cell);
    };
    while (csv.next(cells)) {
      baths[number("bath_K")] = {
          {static_cast<std::int64_t>(number("departures")), number("time_ns")},
          number("of_one_molecule"),
          number("returns"),
          number("relative_kinetic_kcal_per_mol"),
          number("potential_leaving_kcal_per_mol"),
          number("potential_leaving_err"),
          number("potential_whole_kcal_per_mol")};
    }
  });
  return baths;
}

/// Clusters in equilibrium, which a wall keeps together.
void prepare(const Reproduction& r, const ReproduceOptions& options, const std::string& folder) {
  const std::string path = options.inputs_dir + "/" + r.deck;
  constexpr double kDuration_ps = 100.0;
  run_deck(load_deck(path,
                     {"confinement.radius_A=6", "confinement.stiffness_kcal_per_mol_A2=5",
                      fmt::format("run.duration_ps={}", options.share_of_time * kDuration_ps),
                      "run.equilibration_ps=0"},
                     {"observe.evaporation"}),
           run_options(options, folder));
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

/// How many departures there were for each that the rates of the usual case would have given.
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

/// Mean kinetic energy at the departures of all baths, in units of their kT.
double release_of(const Baths& baths) {
  double sum = 0.0, events = 0.0;
  for (const auto& [bath_K, bath] : baths) {
    if (bath.exposure.events == 0) continue;
    sum += static_cast<double>(bath.exposure.events) * bath.kinetic / kT(bath_K);
    events += static_cast<double>(bath.exposure.events);
  }
  return sum / events;
}

void add_point(double x, const Rate& y, io::Series& series) {
  if (y.value == 0.0) return;
  const double relative = y.error / y.value;  // that of the logarithm, whose bars end above 0
  series.x.push_back(x);
  series.y.push_back(y.value);
  series.low.push_back(y.value * std::exp(-relative));
  series.high.push_back(y.value * std::exp(relative));
}

std::string table_head(std::string first, const Baths& baths, std::string_view more) {
  std::string line = "|";
  for (const char c : first) line += c == '|' ? "---|" : "";
  std::string head = "| " + first;
  for (const auto& [bath_K, bath] : baths) {
    head += fmt::format(" {:g} K |", bath_K);
    line += "---|";
  }
  head += more;
  for (const char c : more) line += c == '|' ? "---|" : "";
  return head + "\n" + line + "\n";
}

}  // namespace

void make_evaporation_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(
      r, options,
      {"scheme", "timestep_fs", "friction_per_ps", "bath_K", "departures", "of_one_molecule",
       "returns", "time_ns", "rate_per_ns", "rate_err", "relative_kinetic_kcal_per_mol",
       "potential_leaving_kcal_per_mol", "potential_leaving_err", "potential_whole_kcal_per_mol"});
  std::vector<io::Plot> plots{
      plot(r.title, "1000 K / T     bars: standard error of the logarithm", "rate (1/ns)"),
      plot(r.title, "friction (1/ps)     dashed: did not come back", "rate (1/ns)")};
  plots[0].log_y = plots[1].log_y = plots[1].log_x = true;

  const WorkFolder state(options.out_dir + "/" + r.name + "-start");
  prepare(r, options, state.path());
  std::vector<std::pair<Case, Baths>> all;
  for (const Case& c : cases()) {
    all.emplace_back(c, run_case(r, options, c, std::filesystem::absolute(state.path()).string()));
    for (const auto& [bath_K, bath] : all.back().second) {
      const Rate rate = rate_of(bath.exposure);
      page.csv().cell(std::string_view(c.scheme)).cell(c.timestep_fs).cell(c.friction_per_ps);
      page.csv().cell(bath_K).cell(bath.exposure.events);
      page.csv().cell(static_cast<std::int64_t>(bath.single));
      page.csv().cell(static_cast<std::int64_t>(bath.returns)).cell(bath.exposure.time);
      page.csv().cell_or_nan(rate.value).cell_or_nan(rate.error);
      page.csv().cell_or_nan(bath.kinetic).cell_or_nan(bath.leaving);
      page.csv().cell_or_nan(bath.leaving_error).cell_or_nan(bath.whole);
      page.end_row();
    }
  }
  const Baths usual = all.front().second;
  std::sort(all.begin(), all.begin() + 5, [](const auto& a, const auto& b) {
    return a.first.friction_per_ps < b.first.friction_per_ps;
  });

  std::string rates = table_head("scheme | step (fs) | friction (1/ps) |", usual,
                                 " activation (kcal/mol) | χ² of 6 | pooled |");
  std::string escapes =
      table_head("friction (1/ps) |", usual, " came back | kinetic energy (kT) |");
  std::map<double, std::pair<io::Series, io::Series>> by_friction;  // of each bath
  for (const auto& [c, baths] : all) {
    io::Series series;
    std::string escape = fmt::format("| {:g} |", c.friction_per_ps);
    double departures = 0.0, returns = 0.0;
    rates += fmt::format("| {} | {:g} | {:g} |", c.label, c.timestep_fs, c.friction_per_ps);
    for (const auto& [bath_K, bath] : baths) {
      const Rate rate = rate_of(bath.exposure);
      rates += fmt::format(" {} |", text_of(rate));
      escape += fmt::format(" {} |", text_of(escape_rate(bath)));
      departures += static_cast<double>(bath.exposure.events);
      returns += bath.returns;
      add_point(1000.0 / bath_K, rate, series);
      if (!c.is_of_friction()) continue;
      add_point(c.friction_per_ps, rate, by_friction[bath_K].first);
      add_point(c.friction_per_ps, escape_rate(bath), by_friction[bath_K].second);
    }
    const auto line = fit(baths);
    rates += line ? fmt::format(" {} | {:.0f} |",
                                value_and_error(line->activation, line->activation_error),
                                line->deviance)
                  : " ? | ? |";
    rates += fmt::format(" {} |\n", c.is_usual() ? "1" : text_of(ratio_of(baths, usual)));
    if (!c.is_of_friction()) continue;
    escapes += escape + fmt::format(" {:.0f} % | {:.2f} |\n", 100.0 * returns / departures,
                                    release_of(baths));
    series.label = fmt::format("{:g}/ps", c.friction_per_ps);
    series.style = io::Series::Style::marked_line;
    plots[0].series.push_back(std::move(series));
  }

  std::string energies = table_head("(kcal/mol) |", usual, "");
  std::string whole = "| ⟨V₀⟩ of whole clusters |",
              leaving = "| ⟨V₀⟩ when the molecule is 8 Å away |";
  std::string activation = "| activation by (73) |", single = "| of departures, single molecules |";
  for (const auto& [bath_K, bath] : usual) {
    whole += fmt::format(" {:.2f} |", bath.whole);
    leaving += fmt::format(" {} |", value_and_error(bath.leaving, bath.leaving_error));
    activation += fmt::format(
        " {} |", value_and_error(bath.leaving - bath.whole + 0.5 * kT(bath_K), bath.leaving_error));
    single +=
        fmt::format(" {:.0f} % |", 100.0 * bath.single / static_cast<double>(bath.exposure.events));
  }
  page.text(
      "Clusters are brought into equilibrium in a wall of 6 Å for 100 ps, let go, and waited for "
      "from 2 ps on.\n\nRates in 1/ns at which a whole cluster of seven loses its first molecule, "
      "farther than 8 Å; the activation energy of all baths, chi squared of that line, and how "
      "many departures there were for each that SETTLE with 2 fs and 0.5/ps would have had:\n\n" +
      rates +
      "\nOf those that were not whole again until the end of the run, in 1/ns, how many came back, "
      "and the kinetic energy of the molecules that leave against the rest, 2 kT in "
      "equilibrium:\n\n" +
      escapes +
      "\nEnergies with 0.5/ps ([equation (73)](../equations-observables.md#evaporation)):\n\n" +
      energies + whole + "\n" + leaving + "\n" + activation + "\n" + single + "\n");
  bool shown = false;
  for (auto& [bath_K, curves] : by_friction) {
    shown = !shown;  // each second one
    if (!shown) continue;
    auto& [every, escape] = curves;
    every.label = fmt::format("{:g} K", bath_K);
    every.colour = escape.colour = io::palette_colour(plots[1].series.size() / 2);
    every.style = escape.style = io::Series::Style::marked_line;
    escape.dashed = true;
    plots[1].series.push_back(std::move(every));
    plots[1].series.push_back(std::move(escape));
  }
  page.write(plots);
}

}  // namespace tarn
