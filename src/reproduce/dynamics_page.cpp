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
#include "pages.hpp"
#include "result_page.hpp"
#include "step_time.hpp"

namespace tarn {
namespace {

using analysis::MeanError;

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
     {"bond_time_ps", "hydrogen-bond lifetime (ps)"},
     {"displacement_A2", "displacement² after 2 ps (Å²)"}}};
/// Time of the displacement in the tables.
constexpr double kDisplaced_ps = 2.0;
constexpr std::array<std::string_view, 4> kColumns{"dipole_p1", "oh_p2", "bonded_still",
                                                   "displacement_A2"};

constexpr double kFriction_per_ps = 1.0;  // of the first table
constexpr double kNoPenalty = 0.0;

/// SETTLE or Z&Ss with one step and friction.
struct Case {
  double omega, timestep_fs, friction_per_ps;
  const char* colour = nullptr;  // null: not in the picture

  std::array<MeanError, kQuantities.size()> values{};
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

/// The reference is the first.
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
/// The weakest friction is the first.
std::vector<Case> cases_of_frictions() {
  return {{kNoPenalty, 2.0, 0.1, "#0072B2"},
          {kNoPenalty, 2.0, 0.3},
          {kNoPenalty, 2.0, 1.0, "#000000"},
          {kNoPenalty, 2.0, 3.0},
          {kNoPenalty, 2.0, 5.0, "#D55E00"}};
}

/// Reads correlation.csv from the folder of the run.
void read_curves(const std::string& folder, Case& c) {
  io::CsvReader csv(folder + "/correlation.csv");
  const std::size_t moved = csv.column("displacement_A2");
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    const double time_ps = csv.number(cells[0]);
    for (std::size_t k = 0; k < kColumns.size(); ++k) {
      add_point(c.curves[k], time_ps, csv.number(cells[csv.column(kColumns[k])]));
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
  std::vector<TimedEngine> timed;
  for (const Case& c : cases)
    timed.push_back(timed_engine_of(page_deck(r, options, c.overrides())));
  time_in_turns(timed, kTurns, std::min(1.0, options.share_of_time) * kTurnSeconds);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    cases[k].core_us_per_ps = timed[k].quantile(0.5) / cases[k].timestep_fs;
  }
}

/// The relative deviation, in percent.
MeanError deviation(const MeanError& value, const MeanError& reference) {
  const double ratio = value.mean / reference.mean;
  return {100.0 * (ratio - 1.0),
          100.0 * ratio * std::hypot(value.error / value.mean, reference.error / reference.mean)};
}

/// The values of the reference, or deviations from them.
MarkdownTable::Cells with_values(MarkdownTable::Cells cells, const Case& c, const Case& reference) {
  for (std::size_t q = 0; q < kQuantities.size(); ++q) {
    if (&c == &reference) {
      cells.push_back(value_and_error(c.values[q]));
      continue;
    }
    const MeanError d = deviation(c.values[q], reference.values[q]);
    cells.push_back(fmt::format("{:+.1f} ± {:.1f} %", d.mean, d.error));
  }
  return cells;
}
MarkdownTable table_of_quantities(MarkdownTable::Cells header) {
  for (const Quantity& q : kQuantities) header.emplace_back(q.heading);
  return MarkdownTable(header);
}

void write_row(ResultPage& page, const Case& c) {
  page.csv_row(c.is_rigid() ? "settle" : "zss-stiff", c.omega, c.timestep_fs, c.friction_per_ps,
               c.core_us_per_ps, c.values, c.stopped);
}

/// @param labels of the drawn cases; empty: no legend
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

void add_method(ResultPage& page, const Deck& deck, double minutes) {
  const double length_ps = static_cast<double>(deck.run.steps) * deck.integrator.timestep_fs * 1e-3;
  page.method(
      "The first row of a table contains values, the others relative deviations from it. Errors "
      "are standard errors.");
  page.method(
      fmt::format("Each row is from {} replicas with BAOAB, {:g} ps after an "
                  "equilibration of {:g} ps, sampled every {:g} fs.",
                  deck.system.replicas, length_ps - deck.run.equilibration_ps,
                  deck.run.equilibration_ps, kSample_fs));
  page.method(fmt::format(
      "Correlation times are integrals up to {:g} ps ([equations 68 and "
      "69](../equations-observables.md#correlations-in-time)). The displacement is that of "
      "equation 70 after {:g} ps.",
      deck.correlation.value().length_ps, kDisplaced_ps));
  page.method(
      "The hydrogen-bond lifetime depends on the sampling interval: shorter breaks are not "
      "detected.");
  page.method(
      fmt::format("The core time is that of one cluster: the median of {} turns on one thread, "
                  "without the observer.",
                  kTurns));
  page.method(fmt::format("All runs together took {:.1f} minutes.", minutes));
}

void make_dynamics_page(const Reproduction& r, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Case> schemes = cases_of_schemes(), frictions = cases_of_frictions();
  time_all(r, options, schemes);
  time_all(r, options, frictions);
  for (std::vector<Case>* cases : {&schemes, &frictions}) {
    for (Case& c : *cases) run(r, options, c);
  }

  ResultPage page(
      r, options,
      {"scheme", "omega", "timestep_fs", "friction_per_ps", "core_us_per_ps", "oh_p2_time_ps",
       "oh_p2_time_ps_err", "dipole_p1_time_ps", "dipole_p1_time_ps_err", "bond_time_ps",
       "bond_time_ps_err", "displacement_2ps_A2", "displacement_2ps_A2_err", "stopped_replicas"});
  std::vector<std::string> scheme_labels, friction_labels;
  MarkdownTable by_scheme =
      table_of_quantities({"scheme", "step (fs)", "core time (µs/ps)", "blow-ups"});
  for (const Case& c : schemes) {
    write_row(page, c);
    by_scheme.row(with_values({c.scheme(), fmt::format("{:g}", c.timestep_fs),
                               fmt::format("{:.0f}", c.core_us_per_ps), std::to_string(c.stopped)},
                              c, schemes.front()));
    if (c.colour) scheme_labels.push_back(fmt::format("{}, {:g} fs", c.scheme(), c.timestep_fs));
  }
  MarkdownTable by_friction = table_of_quantities({"friction (1/ps)"});
  for (const Case& c : frictions) {
    write_row(page, c);
    by_friction.row(with_values({fmt::format("{:g}", c.friction_per_ps)}, c, frictions.front()));
    if (c.colour) friction_labels.push_back(fmt::format("friction {:g}/ps", c.friction_per_ps));
  }
  page.text(fmt::format("## Scheme and step\n\nFriction {:g}/ps.\n\n", kFriction_per_ps));
  page.table(by_scheme);
  page.text("## Friction\n\nSETTLE with steps of 2 fs.\n\n");
  page.table(by_friction);
  add_method(
      page, page_deck(r, options),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60.0);
  std::vector<io::Plot> panels{panel(schemes, 1, "O-H, P₂", 3.0, scheme_labels),
                               panel(schemes, 2, "still bonded", 2.0, {}),
                               panel(frictions, 0, "dipole, P₁", 10.0, friction_labels),
                               panel(frictions, 3, "displacement² (Å²)", 10.0, {})};
  panels.front().title = r.title;
  page.write(panels);
}

}  // namespace

Reproduction dynamics_page() {
  return {
      .deck = "dynamics32.toml",
      .summary =
          "Reorientation, diffusion and hydrogen-bond lifetimes in a droplet of 32 molecules were "
          "measured as a function of scheme, time step and friction. With SETTLE, BAOAB and steps "
          "of up to 4 fs the results agree with those of short steps to about one percent. "
          "Friction changes the dynamics at least as much as the scheme.\n\n"
          "* With SETTLE, reorientation is 2 % too slow at 6 fs and 4 to 5 % at 8 fs. "
          "Hydrogen-bond lifetimes do not change.\n"
          "* With Z&Ss at 2 fs and ω = 500 or 100, reorientation is 1 to 4 % too slow, and "
          "hydrogen-bond lifetimes are 4 to 5 % too long. This is the error of the time step: "
          "with ω = 100 it is at most 2 % at 1 fs and up to 15 % at 4 fs.\n"
          "* With ω = 20 the deviations are 27 to 32 %, because of the penalty.\n"
          "* Friction slows reorientation: at 5/ps, τ₂ of O-H bonds is 40 % longer than at "
          "0.1/ps, and τ₁ of dipoles almost 80 %. Hydrogen-bond lifetimes hardly depend on "
          "friction.",
      .make = make_dynamics_page};
}

}  // namespace tarn
