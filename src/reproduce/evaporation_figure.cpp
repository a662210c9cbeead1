#include "evaporation_figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "figure_page.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

constexpr double kUsualFriction_per_ps = 0.5;

struct Case {
  std::string scheme;
  double timestep_fs, friction_per_ps;
  std::vector<std::string> overrides;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double friction_per_ps : {0.02, 0.1, kUsualFriction_per_ps, 2.0, 10.0}) {
    all.push_back({"settle", 2.0, friction_per_ps, {}});
  }
  all.push_back({"settle", 4.0, kUsualFriction_per_ps, {"integrator.timestep_fs=4"}});
  for (const char* omega : {"500", "100", "20"}) {
    all.push_back({fmt::format("zss-stiff, ω = {}", omega),
                   2.0,
                   kUsualFriction_per_ps,
                   {"integrator.scheme=zss-stiff", fmt::format("integrator.omega={}", omega)}});
  }
  for (Case& c : all) {
    c.overrides.push_back(fmt::format("thermostat.friction_per_ps={}", c.friction_per_ps));
  }
  return all;
}

struct Value {
  double mean = 0.0, error = 0.0;
};
std::string text_of(const Value& v) {
  const int digits = analysis::decimals_for(v.error);
  return fmt::format("{:.{}f} ± {:.{}f}", v.mean, digits, v.error, digits);
}

struct Outcome {
  std::map<double, Value> rates_per_ns;  // by bath
  double departures = 0.0, returns = 0.0;
  std::optional<Value> activation;
};

Outcome run_case(const Reproduction& r, const ReproduceOptions& options, const Case& c) {
  Outcome outcome;
  const RunResult result = run_changed(r, options, c.overrides, {}, [&](const std::string& folder) {
    io::CsvReader csv(folder + "/evaporation_rates.csv");
    std::vector<std::string_view> cells;
    const auto number = [&](std::string_view column) {
      return csv.number(cells[csv.column(column)]);
    };
    while (csv.next(cells)) {
      outcome.departures += number("departures");
      outcome.returns += number("returns");
      if (cells[csv.column("rate_per_ns")] == "nan") continue;
      outcome.rates_per_ns[number("bath_K")] = {number("rate_per_ns"), number("rate_err")};
    }
  });
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity == "activation_energy_kcal_per_mol") outcome.activation = {a.mean, a.error};
  }
  return outcome;
}

void add_point(double x, const Value& y, io::Series& series) {
  series.x.push_back(x);
  series.y.push_back(y.mean);
  series.low.push_back(y.mean - y.error);
  series.high.push_back(y.mean + y.error);
}

/// Mean potential of clusters that a wall keeps together, by bath.
std::map<double, Value> potentials(const Reproduction& r, const ReproduceOptions& options,
                                   int molecules) {
  const RunResult result =
      run_changed(r, options,
                  {fmt::format("system.molecules={}", molecules), "confinement.radius_A=5",
                   "confinement.stiffness_kcal_per_mol_A2=5", "observe.energies.every=500"},
                  {"observe.evaporation"});
  std::map<double, Value> of_baths;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "potential_kcal_per_mol" || !a.bath_K) continue;
    of_baths[a.bath_K.value()] = {a.mean, a.error};
  }
  return of_baths;
}

}  // namespace

void make_evaporation_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(
      r, options,
      {"scheme", "timestep_fs", "friction_per_ps", "bath_K", "quantity", "mean", "error"});
  const auto put = [&](const Case& c, double bath_K, std::string_view quantity, const Value& v) {
    std::string scheme = c.scheme.substr(0, c.scheme.find(','));
    if (const auto at = c.scheme.find("= "); at != std::string::npos) {
      scheme += ":omega=" + c.scheme.substr(at + 2);
    }
    page.csv().cell(std::string_view(scheme)).cell(c.timestep_fs).cell(c.friction_per_ps);
    page.csv().cell_or_nan(bath_K).cell(quantity).cell(v.mean).cell(v.error);
    page.end_row();
  };
  std::vector<io::Plot> plots{plot(r.title, "1000 K / T     bars: standard error", "rate (1/ns)"),
                              plot(r.title, "friction (1/ps)", "rate (1/ns)")};
  plots[0].log_y = plots[1].log_y = plots[1].log_x = true;
  std::map<double, io::Series> by_friction;  // of each bath

  std::string table, line;
  std::map<double, Value> first;  // rates of the first case, whose baths all have
  for (const Case& c : cases()) {
    const Outcome outcome = run_case(r, options, c);
    if (table.empty()) {
      first = outcome.rates_per_ns;
      table = "| scheme | step (fs) | friction (1/ps) |";
      line = "|---|---|---|";
      for (const auto& [bath_K, rate] : first) {
        table += fmt::format(" {:g} K |", bath_K);
        line += "---|";
      }
      table += " activation (kcal/mol) | came back |\n" + line + "---|---|\n";
    }
    table += fmt::format("| {} | {:g} | {:g} |", c.scheme, c.timestep_fs, c.friction_per_ps);
    const bool usual = c.scheme == "settle" && c.timestep_fs == 2.0;
    io::Series rates;
    for (const auto& [bath_K, rate] : outcome.rates_per_ns) {
      table += fmt::format(" {} |", text_of(rate));
      put(c, bath_K, "evaporation_rate_per_ns", rate);
      if (!usual) continue;
      add_point(1000.0 / bath_K, rate, rates);
      add_point(c.friction_per_ps, rate, by_friction[bath_K]);
    }
    if (usual) {
      rates.label = fmt::format("{:g}/ps", c.friction_per_ps);
      rates.style = io::Series::Style::marked_line;
      plots[0].series.push_back(std::move(rates));
    }
    table += fmt::format(" {} | {:.0f} % |\n",
                         outcome.activation ? text_of(*outcome.activation) : std::string("?"),
                         100.0 * outcome.returns / std::max(outcome.departures, 1.0));
    if (outcome.activation) {
      put(c, std::nan(""), "activation_energy_kcal_per_mol", *outcome.activation);
    }
  }
  page.text("Rates in 1/ns at which a whole cluster of seven loses its first molecule:\n\n" +
            table + "\n");

  const std::map<double, Value> seven = potentials(r, options, 7), six = potentials(r, options, 6);
  table = "| bath (K) |", line = "|---|";
  std::string differences = "| ⟨V₀⟩ of six less that of seven (kcal/mol) |";
  const Case walled{"settle", 2.0, kUsualFriction_per_ps, {}};
  for (const auto& [bath_K, of_seven] : seven) {
    const auto of_six = six.find(bath_K);
    if (of_six == six.end()) continue;
    const Value difference{of_six->second.mean - of_seven.mean,
                           std::hypot(of_six->second.error, of_seven.error)};
    put(walled, bath_K, "potential_difference_kcal_per_mol", difference);
    table += fmt::format(" {:g} |", bath_K);
    line += "---|";
    differences += fmt::format(" {} |", text_of(difference));
  }
  page.text("What leaving takes, of clusters that a wall of 5 Å keeps together:\n\n" + table +
            "\n" + line + "\n" + differences + "\n\n");
  page.text(
      "A barrier that is all way up has the activation energy of this difference and kT/2, 0.3 "
      "kcal/mol, less what molecules 8 Å apart still hold each other by "
      "([equation (73)](../equations.md)). Rows: whole clusters of seven after 20 ps, until the "
      "first molecule is 8 Å away; \"came back\" are those that were whole again later, which "
      "count.\n");
  bool shown = false;
  for (auto& [bath_K, rates] : by_friction) {
    shown = !shown;  // each second one
    if (!shown) continue;
    rates.label = fmt::format("{:g} K", bath_K);
    rates.style = io::Series::Style::marked_line;
    plots[1].series.push_back(std::move(rates));
  }
  page.write(plots);
}

}  // namespace tarn
