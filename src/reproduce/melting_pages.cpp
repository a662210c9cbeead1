#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/observe/pictures.hpp"
#include "work_folder.hpp"

namespace tarn {
namespace {

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
constexpr std::size_t kHeatCapacity = 1, kLindemann = 3;

/// A quantity of one bath.
struct Value {
  double mean = 0.0, error = 0.0;
  bool converged = true;
};
struct Bath {
  double temperature_K = 0.0;
  std::array<Value, kQuantities.size()> values;
};

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
                   std::vector<std::string> overrides, const std::vector<std::string>& removals,
                   const std::function<void(const std::string& folder)>& read_files = {}) {
  Outcome outcome;
  const RunResult result =
      run_changed(r, options, std::move(overrides), removals, [&](const std::string& folder) {
        outcome.capacity = heat_capacity_curve(folder);
        if (read_files) read_files(folder);
      });
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

/// The temperature and the height of the maximum, as two cells of a table.
std::array<std::string, 2> peak_cells(const Outcome& outcome) {
  if (!outcome.peak_K) return {"not significant", "–"};
  return {text_of(*outcome.peak_K), text_of(*outcome.peak_height)};
}

/// Adds quantity q by bath. In the heat capacity's panel the baths are points beside the curve from
/// all baths.
void add_curves(const Outcome& outcome, std::size_t q, const std::string& label, io::Series like,
                std::vector<io::Series>& series) {
  io::Series s = like;
  std::vector<double> errors;
  for (const Bath& bath : outcome.baths) {
    add_point(s, bath.temperature_K, bath.values[q].mean);
    errors.push_back(bath.values[q].error);
  }
  s.set_error(errors);
  const bool has_curve = q == kHeatCapacity && outcome.capacity;
  s.style = has_curve ? io::Series::Style::points : io::Series::Style::marked_line;
  if (has_curve) {
    io::Series& curve = series.emplace_back(*outcome.capacity);
    curve.label = label;
    curve.colour = like.colour;
    curve.dashed = like.dashed;
    s.dashed = false;
  } else if (q == kHeatCapacity) {
    s.label = label;
  }
  series.push_back(std::move(s));
}

/// Adds the first `quantities` quantities of all baths, bath by bath, to the CSV table.
/// @param first_cells of each row
template <class... Cells>
void add_bath_row(ResultPage& page, const Bath& bath, std::size_t q, const Cells&... first_cells) {
  const Value& v = bath.values[q];
  page.csv_row(first_cells..., bath.temperature_K, kQuantities[q].name,
               v.mean / kQuantities[q].unit, v.error / kQuantities[q].unit, int{v.converged});
}

/// Adds the heat-capacity curve of all baths to the CSV table.
template <class... Cells>
void add_capacity_rows(ResultPage& page, const Outcome& outcome, const Cells&... first_cells) {
  if (!outcome.capacity) return;
  const io::Series& c = *outcome.capacity;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    page.csv_row(first_cells..., c.x[i], "heat_capacity_from_all_baths_kcal_per_mol_K",
                 OrNan{c.y[i] / 1000.0}, OrNan{(c.high[i] - c.y[i]) / 1000.0}, 1);
  }
}

constexpr const char* kPictureRemark = "     points: single temperatures, bars: standard error";
constexpr const char* kCurveRemark =
    "The curves of the heat capacity and their maxima come from the energies of all temperatures "
    "([how](../measuring.md#heat-capacity-curves)).";

// --- melting -------------------------------------------------------------------------------------

MarkdownTable bath_table(const Outcome& outcome) {
  MarkdownTable::Cells header{"temperature (K)"};
  for (const Quantity& q : kQuantities) header.emplace_back(q.heading);
  MarkdownTable table(header);
  for (const Bath& bath : outcome.baths) {
    MarkdownTable::Cells cells{fmt::format("{:g}", bath.temperature_K)};
    for (const Value& v : bath.values) cells.push_back(text_of(v));
    table.row(cells);
  }
  return table;
}

/// A water model with the temperatures of its ladder; empty: those of the deck.
struct MeltingModel {
  std::string name, label, temperatures_K;
};
const std::array<MeltingModel, 2> kMeltingModels{
    {{"tip3p", "TIP3P", ""},
     {"tip4p", "TIP4P",
      "[60, 80, 105, 130, 150, 165, 178, 190, 200, 210, 220, 232, 245, 260, 280, 300]"}}};
constexpr double kLindemannWindow_ps = 1000.0;

std::vector<std::string> melting_overrides(const MeltingModel& model) {
  std::vector<std::string> overrides{
      fmt::format("system.model=\"{}\"", model.name),
      fmt::format("system.file=\"structures/{}-8.xyz\"", model.name)};
  if (!model.temperatures_K.empty()) {
    overrides.push_back("thermostat.temperatures_K=" + model.temperatures_K);
  }
  return overrides;
}

/// The Lindemann index at each temperature, from a run without exchange that starts from the final
/// states in `folder`: exchanges move replicas, so that the trajectory of one is not continuous.
std::vector<Bath> lindemann_baths(const Reproduction& r, const ReproduceOptions& options,
                                  std::vector<std::string> overrides, const std::string& folder) {
  std::erase_if(overrides, [](const std::string& o) { return o.starts_with("system.file"); });
  const std::string path = options.inputs_dir + "/" + r.deck;
  const double timestep_fs = load_deck(path).integrator.timestep_fs;
  const double steps = options.share_of_time * kLindemannWindow_ps * 1000.0 / timestep_fs;
  overrides.insert(overrides.end(),
                   {fmt::format("system.state=\"{}\"", std::filesystem::absolute(folder).string()),
                    "system.seed=2", "observe.cluster.lindemann=true", "observe.cluster.every=100",
                    fmt::format("run.steps={}", std::max<std::int64_t>(std::llround(steps), 100)),
                    "run.equilibration_ps=0"});
  const WorkFolder second(options.out_dir + "/" + r.name + "-lindemann");
  return baths_of(
      run_page_deck(load_deck(path, overrides, {"exchange", "system.file"}), options, second.path())
          .averages);
}

void make_melting_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options, {"model", "bath_K", "quantity", "mean", "error", "converged"});
  std::vector<io::Plot> plots;
  for (std::size_t q = kHeatCapacity; q < kQuantities.size(); ++q) {
    plots.push_back(plot("Melting of the water octamer", "temperature (K)",
                         std::string(kQuantities[q].y_label)));
  }
  MarkdownTable peaks({"model", "maximum of the heat capacity (K)", "height (cal/mol/K)"});
  std::string baths;
  for (std::size_t m = 0; m < kMeltingModels.size(); ++m) {
    const MeltingModel& model = kMeltingModels[m];
    const std::vector<std::string> overrides = melting_overrides(model);
    std::vector<Bath> lindemann;
    Outcome outcome = outcome_of(r, options, overrides, {}, [&](const std::string& folder) {
      lindemann = lindemann_baths(r, options, overrides, folder);
    });
    for (std::size_t k = 0; k < outcome.baths.size(); ++k) {
      outcome.baths[k].values[kLindemann] = lindemann.at(k).values[kLindemann];
    }
    for (const Bath& bath : outcome.baths) {
      for (std::size_t q = 0; q < kQuantities.size(); ++q) add_bath_row(page, bath, q, model.name);
    }
    add_capacity_rows(page, outcome, model.name);
    const auto [peak, height] = peak_cells(outcome);
    peaks.row({model.label, peak, height});
    baths += fmt::format("## {}\n\n{}\n", model.label, bath_table(outcome).text());
    baths += fmt::format("Each state made {:.1f} round trips per ns.\n\n",
                         outcome.exchange.value().round_trips_per_ns);
    io::Series like;
    like.colour = io::palette_colour(m);
    for (std::size_t q = kHeatCapacity; q < kQuantities.size(); ++q) {
      add_curves(outcome, q, model.label, like, plots[q - 1].series);
    }
  }
  page.table(peaks);
  page.text(baths);
  page.method(fmt::format(
      "The Lindemann index comes from a second run of {:g} ns without exchange, started from the "
      "final states of the first. It grows with the length of this window.",
      kLindemannWindow_ps / 1000.0));
  page.method("Points: averages at one temperature. Error bars and bands: standard errors.");
  page.method(
      "\\* marks averages whose run is too short for their correlation time, or a Lindemann index "
      "that has not converged. Their errors are lower bounds.");
  page.method(
      "The heat capacity is that of rigid bonds, including the kinetic part 3 N k = 47.7 "
      "cal/mol/K.");
  page.method(kCurveRemark);
  page.method("To run TIP3P alone: `tarn run inputs/exchange8.toml`, which draws `baths.svg`.");
  page.write(plots);
}

// --- exchange ------------------------------------------------------------------------------------

struct Case {
  bool exchange;
  const char *start, *label;
  Outcome outcome{};
};
using Cases = std::array<Case, 4>;

Cases run_cases(const Reproduction& r, const ReproduceOptions& options) {
  Cases cases{{{true, "cube", "exchange, from the cube"},
               {true, "random", "exchange, from random clusters"},
               {false, "cube", "none, from the cube"},
               {false, "random", "none, from random clusters"}}};
  for (Case& c : cases) {
    std::vector<std::string> overrides, removals;
    if (std::string_view(c.start) == "random") {
      overrides.emplace_back("system.molecules=8");
      removals.emplace_back("system.file");
    }
    if (!c.exchange) removals.emplace_back("exchange");
    c.outcome = outcome_of(r, options, overrides, removals);
  }
  return cases;
}

MarkdownTable quantity_table(const Cases& cases, std::size_t q) {
  MarkdownTable::Cells header{"temperature (K)"};
  for (const Case& c : cases) header.emplace_back(c.label);
  MarkdownTable table(header);
  for (std::size_t k = 0; k < cases[0].outcome.baths.size(); ++k) {
    MarkdownTable::Cells cells{fmt::format("{:g}", cases[0].outcome.baths[k].temperature_K)};
    for (const Case& c : cases) cells.push_back(text_of(c.outcome.baths[k].values[q]));
    table.row(cells);
  }
  return table;
}

std::string exchange_text(const Cases& cases) {
  std::string acceptance;
  for (const ExchangePair& p : cases[0].outcome.exchange.value().pairs) {
    acceptance += fmt::format("{}{:.0f}", acceptance.empty() ? "" : ", ", 100.0 * p.acceptance);
  }
  return fmt::format(
      "All four runs take the same number of steps. The acceptances of exchanges between "
      "neighbouring temperatures, from the lowest pair on, are {} %. Each state makes {:.2g} (from "
      "the "
      "cube) and {:.2g} (from random clusters) round trips per ns between the lowest and the "
      "highest temperature.",
      acceptance, cases[0].outcome.exchange->round_trips_per_ns,
      cases[1].outcome.exchange->round_trips_per_ns);
}

void make_exchange_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options,
                  {"exchange", "start", "bath_K", "quantity", "mean", "error", "converged"});
  std::vector<io::Plot> plots;
  for (std::size_t q = kHeatCapacity; q < kLindemann; ++q) {
    plots.push_back(plot(r.title, "temperature (K)", std::string(kQuantities[q].y_label)));
  }
  plots.back().x_label += kPictureRemark;
  const Cases cases = run_cases(r, options);
  MarkdownTable peaks({"run", "maximum of the heat capacity (K)", "height (cal/mol/K)"});
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const int exchange = c.exchange ? 1 : 0;
    io::Series like;
    like.colour = io::palette_colour(k);
    like.dashed = !c.exchange;
    for (std::size_t q = 0; q < kLindemann; ++q) {
      for (const Bath& bath : c.outcome.baths) add_bath_row(page, bath, q, exchange, c.start);
      if (q > 0) add_curves(c.outcome, q, c.label, like, plots[q - 1].series);
    }
    add_capacity_rows(page, c.outcome, exchange, c.start);
    const auto [peak, height] = peak_cells(c.outcome);
    peaks.row({c.label, peak, height});
  }
  page.table(peaks);
  for (std::size_t q = 0; q < kLindemann; ++q) {
    page.text(fmt::format("**{}**\n\n", kQuantities[q].heading));
    page.table(quantity_table(cases, q));
  }
  page.method(exchange_text(cases));
  page.method(kCurveRemark);
  page.method(
      "\\* marks averages whose run is too short for their correlation time. Their errors are "
      "lower bounds.");
  page.write(plots);
}

}  // namespace

Reproduction melting_page() {
  return {
      .deck = "exchange8.toml",
      .summary =
          "Heat capacity, hydrogen bonds and Lindemann index of eight molecules were measured "
          "from 60 to 300 K with replica exchange. The ordered cube melts into a liquid-like "
          "cluster: hydrogen bonds break, molecules exchange places, and the heat capacity has a "
          "maximum.\n\n"
          "* The cube of TIP3P melts 88 K below that of TIP4P.\n"
          "* One run of 160 clusters gives each curve, with errors: sixteen ladders of ten "
          "temperatures for TIP3P, ten ladders of sixteen for TIP4P.\n"
          "* The states of TIP3P make 1.5 round trips per ns. Between 112 and 140 K its ⟨V₀⟩ "
          "differs from those of [two other runs](exchange.md) by two to four standard errors "
          "(up to 0.15 kcal/mol), and its maximum by 1 to 2 K: there the errors are lower bounds.",
      .make = make_melting_page};
}

Reproduction exchange_page() {
  return {
      .deck = "exchange8.toml",
      .summary =
          "Averages of eight molecules with and without replica exchange were compared for two "
          "starts, the cube and random clusters. With exchange the results do not depend on the "
          "start; without it they do.\n\n"
          "* With exchange, after eight round trips per walker, both starts agree at all "
          "temperatures within 2.2 standard errors.\n"
          "* Without exchange, ⟨V₀⟩ differs by 1.4 kcal/mol at 60 K and by 0.5 kcal/mol at 100 K, "
          "and the maxima of the heat capacity differ by a tenth.\n"
          "* Standard errors do not include states that were never visited. Without exchange, "
          "⟨V₀⟩ at 60 K from the cube has the smallest error of all four runs, but deviates by "
          "fifty times that error.\n"
          "* From 100 to 140 K, exchange reduces the errors of ⟨V₀⟩ to between a third and a "
          "ninth.",
      .make = make_exchange_page};
}

}  // namespace tarn
