#include "melting_figure.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "figure_page.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/observe/pictures.hpp"

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

/// What one run says.
struct Outcome {
  std::vector<Bath> baths{};
  std::optional<io::Series> capacity{};          // at all temperatures
  std::optional<Value> peak_K{}, peak_height{};  // of the heat capacity
  std::optional<ExchangeSummary> exchange{};
};

std::vector<Bath> baths_of(const std::vector<AveragedQuantity>& averages) {
  std::vector<Bath> baths;
  for (const AveragedQuantity& a : averages) {
    const auto quantity = std::find_if(kQuantities.begin(), kQuantities.end(),
                                       [&](const Quantity& q) { return q.name == a.quantity; });
    if (quantity == kQuantities.end() || !a.bath_K) continue;
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
  return value_and_error(v.mean, v.error) + (v.converged ? "" : " \\*");
}

Outcome outcome_of(const Reproduction& r, const ReproduceOptions& options,
                   std::vector<std::string> overrides, const std::vector<std::string>& removals) {
  Outcome outcome;
  const RunResult result = run_changed(
      r, options, std::move(overrides), removals,
      [&](const std::string& folder) { outcome.capacity = heat_capacity_curve(folder); });
  outcome.baths = baths_of(result.averages);
  outcome.exchange = result.exchange;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity == "peak_temperature_K") outcome.peak_K = {a.mean, a.error};
    if (a.quantity == "peak_kcal_per_mol_K") {
      outcome.peak_height = {1000.0 * a.mean, 1000.0 * a.error};
    }
  }
  return outcome;
}

/// With one model, from its own lowest minimum.
Outcome run_model(const Reproduction& r, const ReproduceOptions& options, const char* model) {
  return outcome_of(r, options,
                    {fmt::format("system.model=\"{}\"", model),
                     fmt::format("system.file=\"structures/{}-8.xyz\"", model)},
                    {});
}

std::string peak_text(const Outcome& outcome) {
  if (!outcome.peak_K) return "has no maximum that stands out from its errors";
  return fmt::format("has its maximum at {} K, {} cal/mol/K", text_of(*outcome.peak_K),
                     text_of(*outcome.peak_height));
}

/// Values of quantity q by bath, in the heat capacity's panel beside the curve from all of them.
void add_curves(const Outcome& outcome, std::size_t q, const std::string& label, io::Series like,
                std::vector<io::Series>& series) {
  io::Series s = like;
  std::vector<double> errors;
  for (const Bath& bath : outcome.baths) {
    s.x.push_back(bath.temperature_K);
    s.y.push_back(bath.values[q].mean);
    errors.push_back(bath.values[q].error);
  }
  s.set_error(errors);
  const bool has_curve = q == 1 && outcome.capacity;
  s.style = has_curve ? io::Series::Style::points : io::Series::Style::marked_line;
  if (has_curve) {
    io::Series& curve = series.emplace_back(*outcome.capacity);
    curve.label = label;
    curve.colour = like.colour;
    curve.dashed = like.dashed;
    s.dashed = false;
  } else if (q == 1) {
    s.label = label;
  }
  series.push_back(std::move(s));
}

/// The curves of heat_capacity.csv as rows of a page's table. @param begin_row writes what the row
/// begins with
template <class F>
void add_rows(const Outcome& outcome, FigurePage& page, const F& begin_row) {
  if (!outcome.capacity) return;
  const io::Series& c = *outcome.capacity;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    begin_row();
    page.csv().cell(c.x[i]).cell(std::string_view("heat_capacity_from_all_baths_kcal_per_mol_K"));
    page.csv().cell_or_nan(c.y[i] / 1000.0).cell_or_nan((c.high[i] - c.y[i]) / 1000.0);
    page.csv().cell(std::int64_t{1});
    page.end_row();
  }
}

}  // namespace

void make_melting_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options, {"model", "bath_K", "quantity", "mean", "error", "converged"});
  std::vector<io::Plot> plots;
  for (std::size_t q = 1; q < kQuantities.size(); ++q) {
    plots.push_back(plot("Eight molecules from their lowest minimum", "temperature of the bath (K)",
                         std::string(kQuantities[q].y_label)));
  }
  for (std::size_t m = 0; m < kModels.size(); ++m) {
    const char* model = kModels[m];
    const Outcome outcome = run_model(r, options, model);
    std::string table = "| bath (K) |", line = "|---|";
    for (const Quantity& q : kQuantities) {
      table += fmt::format(" {} |", q.heading);
      line += "---|";
    }
    table += "\n" + line + "\n";
    for (const Bath& bath : outcome.baths) {
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
    add_rows(outcome, page, [&] { page.csv().cell(std::string_view(model)); });
    page.text(
        fmt::format("**{}.** The heat capacity {}.\n\n{}\n", model, peak_text(outcome), table));
    io::Series like;
    like.colour = io::palette_colour(m);
    for (std::size_t q = 1; q < kQuantities.size(); ++q) {
      add_curves(outcome, q, model, like, plots[q - 1].series);
    }
  }
  plots.back().x_label += "     points: of one bath, bars: standard error";
  page.text(
      "\\* Too short for its correlation, or a Lindemann index that still moves: the error is a "
      "lower bound. The heat capacity is that of rigid bonds, with the kinetic part 3 N k = 47.7 "
      "cal/mol/K; the lines, and their maxima, are from the energies of all baths "
      "([how](../measuring.md#heat-capacity-curves)). One model: "
      "`tarn run inputs/melting8.toml`, and `baths.svg` has its curves.\n");
  page.write(plots);
}

void make_exchange_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage page(r, options,
                  {"exchange", "start", "bath_K", "quantity", "mean", "error", "converged"});
  struct Case {
    bool exchange;
    const char *start, *label;
    Outcome outcome{};
  };
  std::array<Case, 4> cases{{{true, "cube", "exchange, from the cube"},
                             {true, "random", "exchange, from random clusters"},
                             {false, "cube", "none, from the cube"},
                             {false, "random", "none, from random clusters"}}};
  std::vector<io::Plot> plots;
  for (std::size_t q = 1; q < kQuantities.size() - 1; ++q) {
    plots.push_back(
        plot(r.title, "temperature of the bath (K)", std::string(kQuantities[q].y_label)));
  }
  plots.back().x_label += "     points: of one bath, bars: standard error";
  std::string peaks;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    Case& c = cases[k];
    const bool random = std::string_view(c.start) == "random";
    std::vector<std::string> overrides, removals;
    if (random) overrides.emplace_back("system.molecules=8");
    if (random) removals.emplace_back("system.file");
    if (!c.exchange) removals.emplace_back("exchange");
    c.outcome = outcome_of(r, options, overrides, removals);
    const auto begin_row = [&] {
      page.csv().cell(std::int64_t{c.exchange}).cell(std::string_view(c.start));
    };
    io::Series like;
    like.colour = io::palette_colour(k);
    like.dashed = !c.exchange;
    for (std::size_t q = 0; q < kQuantities.size() - 1; ++q) {
      for (const Bath& bath : c.outcome.baths) {
        const Value& v = bath.values[q];
        begin_row();
        page.csv().cell(bath.temperature_K).cell(kQuantities[q].name);
        page.csv().cell(v.mean / kQuantities[q].unit).cell(v.error / kQuantities[q].unit);
        page.csv().cell(std::int64_t{v.converged});
        page.end_row();
      }
      if (q > 0) add_curves(c.outcome, q, c.label, like, plots[q - 1].series);
    }
    add_rows(c.outcome, page, begin_row);
    peaks += fmt::format("* {}: {}\n", c.label, peak_text(c.outcome));
  }
  page.text(
      "The heat capacity from all baths "
      "([how](../measuring.md#heat-capacity-curves))\n\n" +
      peaks + "\n");
  for (std::size_t q = 0; q < kQuantities.size() - 1; ++q) {
    std::string table = "| bath (K) |", line = "|---|";
    for (const Case& c : cases) {
      table += fmt::format(" {} |", c.label);
      line += "---|";
    }
    table += "\n" + line + "\n";
    for (std::size_t k = 0; k < cases[0].outcome.baths.size(); ++k) {
      table += fmt::format("| {:g} |", cases[0].outcome.baths[k].temperature_K);
      for (const Case& c : cases)
        table += fmt::format(" {} |", text_of(c.outcome.baths[k].values[q]));
      table += "\n";
    }
    page.text(fmt::format("**{}**\n\n{}\n", kQuantities[q].heading, table));
  }
  std::string acceptance;
  for (const ExchangePair& p : cases[0].outcome.exchange.value().pairs) {
    acceptance += fmt::format("{}{:.0f}", acceptance.empty() ? "" : ", ", 100.0 * p.acceptance);
  }
  page.text(
      fmt::format("All four take as many steps. Neighbours change places in {} % of the attempts; "
                  "states make {:.2g} (from the cube) and {:.2g} round trips a state and ns "
                  "between the coldest and the hottest bath.\n\n\\* Too short for its "
                  "correlation: the error is a lower bound.\n",
                  acceptance, cases[0].outcome.exchange->round_trips_per_ns,
                  cases[1].outcome.exchange->round_trips_per_ns));
  page.write(plots);
}

}  // namespace tarn
