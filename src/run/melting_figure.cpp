#include "melting_figure.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "figure_page.hpp"
#include "tarn/analysis/errors.hpp"

namespace tarn {
namespace {

constexpr std::array kModels{"tip3p", "tip4p"};

struct Quantity {
  std::string_view name, heading, y_label;
  double unit;
};
constexpr std::array<Quantity, 4> kQuantities{
    {{"potential_kcal_per_mol", "⟨V₀⟩ (kcal/mol)", "potential (kcal/mol)", 1.0},
     {"heat_capacity_kcal_per_mol_K", "heat capacity (cal/mol/K)", "heat capacity (cal/mol/K)",
      1000.0},
     {"hydrogen_bonds", "hydrogen bonds", "hydrogen bonds", 1.0},
     {"lindemann", "Lindemann index", "Lindemann index", 1.0}}};

/// A quantity of one bath.
struct Value {
  double mean = 0.0, error = 0.0;
  bool converged = true;
};
struct Bath {
  double temperature_K = 0.0;
  std::array<Value, kQuantities.size()> values;
};

std::vector<Bath> baths_of(const std::vector<AveragedQuantity>& averages) {
  std::vector<Bath> baths;
  for (const AveragedQuantity& a : averages) {
    const auto quantity = std::find_if(kQuantities.begin(), kQuantities.end(),
                                       [&](const Quantity& q) { return q.name == a.quantity; });
    if (quantity == kQuantities.end()) continue;
    const double bath_K = a.bath_K.value();
    auto bath = std::find_if(baths.begin(), baths.end(),
                             [&](const Bath& b) { return b.temperature_K == bath_K; });
    if (bath == baths.end()) bath = baths.insert(baths.end(), Bath{bath_K, {}});
    bath->values[static_cast<std::size_t>(quantity - kQuantities.begin())] = {
        quantity->unit * a.mean, quantity->unit * a.error, a.converged};
  }
  return baths;
}

std::string text_of(const Value& v) {
  const int digits = analysis::decimals_for(v.error);
  return fmt::format("{:.{}f} ± {:.{}f}{}", v.mean, digits, v.error, digits,
                     v.converged ? "" : " \\*");
}

/// With one model, from its own lowest minimum.
RunResult run_model(const Reproduction& r, const ReproduceOptions& options, const char* model) {
  return run_changed(r, options,
                     {fmt::format("system.model=\"{}\"", model),
                      fmt::format("system.file=\"structures/{}-8.xyz\"", model)});
}

}  // namespace

void make_melting_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options, {"model", "bath_K", "quantity", "mean", "error", "converged"});
  std::vector<io::Plot> plots;
  for (std::size_t q = 1; q < kQuantities.size(); ++q) {
    plots.push_back(plot("Eight molecules from their lowest minimum", "temperature of the bath (K)",
                         std::string(kQuantities[q].y_label)));
  }
  for (const char* model : kModels) {
    const RunResult result = run_model(r, options, model);
    const std::vector<Bath> baths = baths_of(result.averages);
    std::string table = "| bath (K) |", line = "|---|";
    for (const Quantity& q : kQuantities) {
      table += fmt::format(" {} |", q.heading);
      line += "---|";
    }
    table += "\n" + line + "\n";
    for (const Bath& bath : baths) {
      table += fmt::format("| {:g} |", bath.temperature_K);
      for (std::size_t q = 0; q < kQuantities.size(); ++q) {
        const Value& v = bath.values[q];
        table += fmt::format(" {} |", text_of(v));
        page.csv().cell(std::string_view(model)).cell(bath.temperature_K);
        page.csv().cell(kQuantities[q].name).cell(v.mean / kQuantities[q].unit);
        page.csv().cell(v.error / kQuantities[q].unit).cell(std::int64_t{v.converged});
        page.end_row();
      }
      table += "\n";
    }
    const auto capacity = [](const Bath& b) { return b.values[1].mean; };
    const Bath& peak =
        *std::max_element(baths.begin(), baths.end(),
                          [&](const Bath& a, const Bath& b) { return capacity(a) < capacity(b); });
    page.text(fmt::format("**{}.** The heat capacity is largest at {:g} K, {} cal/mol/K.\n\n{}\n",
                          model, peak.temperature_K, text_of(peak.values[1]), table));
    for (std::size_t q = 1; q < kQuantities.size(); ++q) {
      io::Series& s = plots[q - 1].series.emplace_back();
      s.label = q == 1 ? model : "";
      s.style = io::Series::Style::marked_line;
      std::vector<double> errors;
      for (const Bath& bath : baths) {
        s.x.push_back(bath.temperature_K);
        s.y.push_back(bath.values[q].mean);
        errors.push_back(bath.values[q].error);
      }
      s.set_error(errors);
    }
  }
  plots.back().x_label += "     bars: standard error";
  page.text(
      "\\* Too short for its correlation: the error is a lower bound. The heat capacity is that of "
      "rigid bonds, with the kinetic part 3 N k = 47.7 cal/mol/K. One model: "
      "`tarn run inputs/melting8.toml`, and `baths.svg` has its curves.\n");
  page.write(plots);
}

void make_exchange_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options,
                  {"exchange", "start", "bath_K", "quantity", "mean", "error", "converged"});
  struct Case {
    bool exchange;
    const char *start, *label;
    RunResult result{};
    std::vector<Bath> baths{};
  };
  std::array<Case, 4> cases{{{true, "cube", "exchange, from the cube"},
                             {true, "random", "exchange, from random clusters"},
                             {false, "cube", "none, from the cube"},
                             {false, "random", "none, from random clusters"}}};
  std::vector<io::Plot> plots;
  for (std::size_t q = 1; q < kQuantities.size() - 1; ++q) {
    plots.push_back(plot(r.title, "temperature of the bath (K)     bars: standard error",
                         std::string(kQuantities[q].y_label)));
  }
  for (Case& c : cases) {
    const bool random = std::string_view(c.start) == "random";
    std::vector<std::string> overrides, removals;
    if (random) overrides.emplace_back("system.molecules=8");
    if (random) removals.emplace_back("system.file");
    if (!c.exchange) removals.emplace_back("exchange");
    c.result = run_changed(r, options, overrides, removals);
    c.baths = baths_of(c.result.averages);
    for (std::size_t q = 0; q < kQuantities.size() - 1; ++q) {
      io::Series s;
      s.label = q == 1 ? c.label : "";
      s.style = io::Series::Style::marked_line;
      s.dashed = !c.exchange;
      std::vector<double> errors;
      for (const Bath& bath : c.baths) {
        const Value& v = bath.values[q];
        page.csv().cell(std::int64_t{c.exchange}).cell(std::string_view(c.start));
        page.csv().cell(bath.temperature_K).cell(kQuantities[q].name);
        page.csv().cell(v.mean / kQuantities[q].unit).cell(v.error / kQuantities[q].unit);
        page.csv().cell(std::int64_t{v.converged});
        page.end_row();
        s.x.push_back(bath.temperature_K);
        s.y.push_back(v.mean);
        errors.push_back(v.error);
      }
      s.set_error(errors);
      if (q > 0) plots[q - 1].series.push_back(std::move(s));
    }
  }
  for (std::size_t q = 0; q < kQuantities.size() - 1; ++q) {
    std::string table = "| bath (K) |", line = "|---|";
    for (const Case& c : cases) {
      table += fmt::format(" {} |", c.label);
      line += "---|";
    }
    table += "\n" + line + "\n";
    for (std::size_t k = 0; k < cases[0].baths.size(); ++k) {
      table += fmt::format("| {:g} |", cases[0].baths[k].temperature_K);
      for (const Case& c : cases) table += fmt::format(" {} |", text_of(c.baths[k].values[q]));
      table += "\n";
    }
    page.text(fmt::format("**{}**\n\n{}\n", kQuantities[q].heading, table));
  }
  std::string acceptance;
  for (const ExchangePair& p : cases[0].result.exchange.value().pairs) {
    acceptance += fmt::format("{}{:.0f}", acceptance.empty() ? "" : ", ", 100.0 * p.acceptance);
  }
  page.text(
      fmt::format("All four take as many steps. Neighbours change places in {} % of the attempts; "
                  "states make {:.2g} (from the cube) and {:.2g} round trips a state and ns "
                  "between the coldest and the hottest bath.\n\n\\* Too short for its "
                  "correlation: the error is a lower bound.\n",
                  acceptance, cases[0].result.exchange->round_trips_per_ns,
                  cases[1].result.exchange->round_trips_per_ns));
  page.write(plots);
}

}  // namespace tarn
