#include "dynamics_figure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "changed_run.hpp"
#include "figure_page.hpp"
#include "step_cost.hpp"
#include "tarn/analysis/errors.hpp"

namespace tarn {
namespace {

/// A multiple of all steps.
constexpr double kSample_fs = 24.0;
constexpr int kTurns = 15;
constexpr double kTurnSeconds = 0.1;

struct Quantity {
  std::string_view name, heading;
};
constexpr std::array<Quantity, 4> kQuantities{
    {{"oh_p2_time_ps", "τ₂ of O-H (ps)"},
     {"dipole_p1_time_ps", "τ₁ of dipoles (ps)"},
     {"bond_time_ps", "bonds last (ps)"},
     {"displacement_A2", "displacement² after 2 ps (Å²)"}}};
/// When the displacement is looked at.
constexpr double kDisplaced_ps = 2.0;
constexpr std::array<std::string_view, 4> kColumns{"dipole_p1", "oh_p2", "bonded_still",
                                                   "displacement_A2"};

constexpr double kFriction_per_ps = 1.0;  // of the first table
constexpr double kNoPenalty = 0.0;

/// SETTLE or Z&Ss with one step and friction.
struct Case {
  double omega, timestep_fs, friction_per_ps;
  const char* colour = nullptr;  // null: it is not drawn

  std::array<analysis::MeanError, kQuantities.size()> values{};
  std::array<io::Series, kColumns.size()> curves{};
  std::int64_t stopped = 0;
  double core_us_per_ps = 0.0;  // of one cluster

  bool is_rigid() const { return omega == kNoPenalty; }
  std::string scheme() const {
    return is_rigid() ? "SETTLE" : fmt::format("Z&Ss, ω = {:g}", omega);
  }
  std::vector<std::string> overrides() const {
    std::vector<std::string> all{
        fmt::format("integrator.timestep_fs={}", timestep_fs),
        fmt::format("thermostat.friction_per_ps={}", friction_per_ps),
        fmt::format("observe.correlation.every={}", std::llround(kSample_fs / timestep_fs))};
    if (is_rigid()) {
      all.emplace_back("integrator.scheme=settle");
    } else {
      all.emplace_back("integrator.scheme=zss-stiff");
      all.push_back(fmt::format("integrator.omega={}", omega));
    }
    return all;
  }
};

/// The reference first.
std::vector<Case> cases_of_schemes() {
  return {{kNoPenalty, 0.5, kFriction_per_ps, "#000000"},
          {kNoPenalty, 1.0, kFriction_per_ps},
          {kNoPenalty, 2.0, kFriction_per_ps},
          {kNoPenalty, 4.0, kFriction_per_ps},
          {kNoPenalty, 6.0, kFriction_per_ps},
          {kNoPenalty, 8.0, kFriction_per_ps, "#0072B2"},
          {500.0, 2.0, kFriction_per_ps},
          {100.0, 1.0, kFriction_per_ps},
          {100.0, 2.0, kFriction_per_ps, "#D55E00"},
          {100.0, 4.0, kFriction_per_ps},
          {50.0, 2.0, kFriction_per_ps},
          {20.0, 2.0, kFriction_per_ps, "#E69F00"}};
}
/// The weakest first.
std::vector<Case> cases_of_frictions() {
  return {{kNoPenalty, 2.0, 0.1, "#0072B2"},
          {kNoPenalty, 2.0, 0.3},
          {kNoPenalty, 2.0, 1.0, "#000000"},
          {kNoPenalty, 2.0, 3.0},
          {kNoPenalty, 2.0, 5.0, "#D55E00"}};
}

/// From the folder of the run.
void read_curves(const std::string& folder, Case& c) {
  io::CsvReader csv(folder + "/correlation.csv");
  const std::size_t moved = csv.column("displacement_A2");
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    const double time_ps = csv.number(cells[0]);
    for (std::size_t k = 0; k < kColumns.size(); ++k) {
      c.curves[k].x.push_back(time_ps);
      c.curves[k].y.push_back(csv.number(cells[csv.column(kColumns[k])]));
    }
    if (time_ps <= kDisplaced_ps + 1e-9) {
      c.values.back() = {csv.number(cells[moved]), csv.number(cells[moved + 1])};
    }
  }
}

void run(const Reproduction& r, const ReproduceOptions& options, Case& c) {
  std::vector<std::string> overrides = c.overrides();
  // Short runs have short correlations.
  if (options.share_of_time < 1.0) overrides.emplace_back("observe.correlation.length_ps=0.2");
  const RunResult result = run_changed(r, options, overrides, {"observe.energies"},
                                       [&](const std::string& folder) { read_curves(folder, c); });
  for (std::size_t q = 0; q < kQuantities.size(); ++q) {
    for (const AveragedQuantity& a : result.averages) {
      if (a.quantity == kQuantities[q].name) c.values[q] = {a.mean, a.error};
    }
  }
  c.stopped = static_cast<std::int64_t>(result.blow_ups.size());
}

void time_all(const Reproduction& r, const ReproduceOptions& options, std::vector<Case>& cases) {
  std::vector<Timed> timed;
  for (const Case& c : cases) {
    const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, c.overrides());
    Timed& t = timed.emplace_back();
    t.replicas = deck.system.replicas;
    t.engine = engine_of(deck);
  }
  time_in_turns(timed, kTurns, std::min(1.0, options.share_of_time) * kTurnSeconds);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    cases[k].core_us_per_ps = timed[k].quantile(0.5) / cases[k].timestep_fs;
  }
}

std::string text_of(const analysis::MeanError& v) { return value_and_error(v.mean, v.error); }
/// By how much one is larger than another, in percent.
analysis::MeanError excess(const analysis::MeanError& own, const analysis::MeanError& other) {
  const double ratio = own.mean / other.mean;
  return {100.0 * (ratio - 1.0),
          100.0 * ratio * std::hypot(own.error / own.mean, other.error / other.mean)};
}

/// The values of the reference, and what those of the others are more.
std::string row_text(const Case& c, const Case& reference) {
  std::string text;
  for (std::size_t q = 0; q < kQuantities.size(); ++q) {
    const analysis::MeanError more = excess(c.values[q], reference.values[q]);
    text += &c == &reference ? fmt::format(" {} |", text_of(c.values[q]))
                             : fmt::format(" {:+.1f} ± {:.1f} % |", more.mean, more.error);
  }
  return text + "\n";
}
/// A heading and the line below it. @param first columns before those of the quantities
std::string table_head(const std::vector<std::string_view>& first) {
  std::string text = "|", line = "|";
  const auto add = [&](std::string_view heading) {
    text += fmt::format(" {} |", heading);
    line += "---|";
  };
  for (const std::string_view heading : first) add(heading);
  for (const Quantity& q : kQuantities) add(q.heading);
  return text + "\n" + line + "\n";
}

void write_row(FigurePage& page, const Case& c) {
  page.csv().cell(std::string_view(c.is_rigid() ? "settle" : "zss-stiff"));
  page.csv().cell(c.omega).cell(c.timestep_fs).cell(c.friction_per_ps).cell(c.core_us_per_ps);
  for (const analysis::MeanError& v : c.values) page.csv().cell(v.mean).cell(v.error);
  page.csv().cell(c.stopped);
  page.end_row();
}

io::Plot panel(const std::vector<Case>& cases, std::size_t column, const std::string& y_label,
               double end_ps, const std::vector<std::string>& labels) {
  io::Plot p = plot("", "time (ps)", y_label);
  for (const Case& c : cases) {
    if (c.colour == nullptr) continue;
    io::Series& series = p.series.emplace_back(c.curves[column]);
    if (!labels.empty()) series.label = labels[p.series.size() - 1];
    series.colour = c.colour;
  }
  p.x_range = {{0.0, end_ps}};
  return p;
}

}  // namespace

void make_dynamics_figure(const Reproduction& r, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Case> schemes = cases_of_schemes(), frictions = cases_of_frictions();
  time_all(r, options, schemes);
  time_all(r, options, frictions);
  for (std::vector<Case>* cases : {&schemes, &frictions}) {
    for (Case& c : *cases) run(r, options, c);
  }

  FigurePage page(
      r, options,
      {"scheme", "omega", "timestep_fs", "friction_per_ps", "core_us_per_ps", "oh_p2_time_ps",
       "oh_p2_time_ps_err", "dipole_p1_time_ps", "dipole_p1_time_ps_err", "bond_time_ps",
       "bond_time_ps_err", "displacement_2ps_A2", "displacement_2ps_A2_err", "stopped_replicas"});
  page.text(fmt::format("## By scheme and step\n\nFriction {:g}/ps.\n\n", kFriction_per_ps) +
            table_head({"scheme", "step (fs)", "µs of a core for a ps", "stopped"}));
  std::vector<std::string> scheme_labels, friction_labels;
  for (const Case& c : schemes) {
    write_row(page, c);
    page.text(fmt::format("| {} | {:g} | {:.0f} | {} |", c.scheme(), c.timestep_fs,
                          c.core_us_per_ps, c.stopped) +
              row_text(c, schemes.front()));
    if (c.colour) scheme_labels.push_back(fmt::format("{}, {:g} fs", c.scheme(), c.timestep_fs));
  }
  page.text("\n## By friction\n\nSETTLE, steps of 2 fs.\n\n" + table_head({"friction (1/ps)"}));
  for (const Case& c : frictions) {
    write_row(page, c);
    page.text(fmt::format("| {:g} |", c.friction_per_ps) + row_text(c, frictions.front()));
    if (c.colour) friction_labels.push_back(fmt::format("friction {:g}/ps", c.friction_per_ps));
  }
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck);
  const double length_ps = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3;
  page.text(fmt::format(
      "\nThe first row of a table has values, the others what they are more. Each row: {} "
      "replicas, {:g} ps of each after {:g} ps, a sample each {:g} fs; BAOAB. Times are integrals "
      "up to {:g} ps ([equations 68 and 69](../equations-observables.md#correlations-in-time)), "
      "the displacement is that after {:g} "
      "ps (70). ± is the standard error of either. How long bonds last is that by samples at these "
      "times: shorter breaks are not seen. Costs are medians of {} turns on one thread, "
      "without the observer. All of it took {:.1f} minutes.\n",
      deck.system.replicas, length_ps - deck.run.equilibration_ps, deck.run.equilibration_ps,
      kSample_fs, deck.correlation.value().length_ps, kDisplaced_ps, kTurns,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60.0));
  std::vector<io::Plot> panels{panel(schemes, 1, "O-H, P₂", 3.0, scheme_labels),
                               panel(schemes, 2, "bonded still", 2.0, {}),
                               panel(frictions, 0, "dipole, P₁", 10.0, friction_labels),
                               panel(frictions, 3, "displacement² (Å²)", 10.0, {})};
  panels.front().title = r.title;
  page.write(panels);
}

}  // namespace tarn
