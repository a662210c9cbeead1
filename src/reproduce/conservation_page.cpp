#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "numbers.hpp"
#include "pages.hpp"
#include "recorded_run.hpp"
#include "result_page.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/core/units.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

constexpr std::int64_t kEvery = 20;
constexpr std::size_t kQuantities = 3;  // energy, momentum, angular momentum

/// Changes of the conserved quantities since the start, until the replica blew up.
struct Changes {
  std::vector<double> time_ps;
  std::array<std::vector<double>, kQuantities> change;
};

Changes changes_of(const RecordedRun& run, std::int64_t replica) {
  Changes c;
  const Conservation& first = run.frames.front().conservation[static_cast<std::size_t>(replica)];
  for (const Frame& frame : run.frames) {
    const auto found = std::find(frame.replica_ids.begin(), frame.replica_ids.end(), replica);
    if (found == frame.replica_ids.end()) break;
    const Conservation& now =
        frame.conservation[static_cast<std::size_t>(found - frame.replica_ids.begin())];
    c.time_ps.push_back(frame.time_ps);
    c.change[0].push_back(now.energy_kcal_per_mol - first.energy_kcal_per_mol);
    c.change[1].push_back(distance(now.momentum_Da_A_per_akma, first.momentum_Da_A_per_akma) /
                          units::picoseconds_per_akma);
    c.change[2].push_back(
        distance(now.angular_momentum_Da_A2_per_akma, first.angular_momentum_Da_A2_per_akma) /
        units::picoseconds_per_akma);
  }
  return c;
}

/// Errors of the replicas of one scheme.
struct Errors {
  std::vector<double> drifts, rms, momenta, angular_momenta;
};

Errors errors_of(const RecordedRun& run) {
  Errors e;
  for (std::int64_t replica = 0; replica < run.deck.system.replicas; ++replica) {
    const Changes c = changes_of(run, replica);
    std::vector<double> time_akma;
    for (const double t : c.time_ps) time_akma.push_back(t / units::picoseconds_per_akma);
    const analysis::LineFit fit = analysis::fit_line(time_akma, c.change[0]);
    e.drifts.push_back(std::abs(fit.slope));
    e.rms.push_back(fit.rms_about_mean);
    e.momenta.push_back(largest_of(c.change[1]));
    e.angular_momenta.push_back(largest_of(c.change[2]));
  }
  return e;
}

/// "1, at step 5449", or the first and the last step of several.
std::string blow_up_text(const std::vector<BlowUp>& blow_ups) {
  if (blow_ups.empty()) return "0";
  const auto [first, last] =
      std::minmax_element(blow_ups.begin(), blow_ups.end(),
                          [](const BlowUp& a, const BlowUp& b) { return a.step < b.step; });
  if (blow_ups.size() == 1) return fmt::format("1, at step {}", first->step);
  return fmt::format("{}, at steps {} to {}", blow_ups.size(), first->step, last->step);
}

std::vector<io::Plot> empty_panels(const Reproduction& r) {
  std::vector<io::Plot> plots;
  for (const char* label :
       {"E - E(0) (kcal/mol)", "|P - P(0)| (Da Å/ps)", "|L - L(0)| (Da Å²/ps)"}) {
    plots.push_back(plot(r.title, "time (ps)", label));
    plots.back().log_y = plots.size() > 1;
  }
  return plots;
}

void make_conservation_page(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = page_deck(r, options);
  ResultPage page(r, options,
                  {"scheme", "step", "time_ps", "energy_change_kcal_per_mol",
                   "momentum_change_Da_A_per_ps", "angular_momentum_change_Da_A2_per_ps"},
                  provenance_of(deck, make_start(deck).state.molecules));
  MarkdownTable table({"scheme", "energy drift (kcal/mol per unit of time)",
                       "rms of the energy (kcal/mol)", "largest change of P (Da Å/ps)",
                       "largest change of L (Da Å²/ps)", "blow-ups"});
  std::vector<io::Plot> plots = empty_panels(r);
  double first_rms = 0.0;
  for (const std::string& scheme : r.schemes) {
    const RecordedRun run =
        record_run(with_scheme(deck, scheme), kConservation, kEvery, options.threads);
    const Changes c = changes_of(run, 0);
    for (std::size_t k = 0; k < c.time_ps.size(); ++k) {
      page.csv_row(scheme, run.frames[k].step, c.time_ps[k], c.change[0][k], c.change[1][k],
                   c.change[2][k]);
    }
    const Errors e = errors_of(run);
    table.row({fmt::format("`{}`", scheme), fmt::format("{:.1e}", median_of(e.drifts)),
               fmt::format("{:.1e}", median_of(e.rms)), fmt::format("{:.1e}", median_of(e.momenta)),
               fmt::format("{:.1e}", median_of(e.angular_momenta)), blow_up_text(run.blow_ups)});
    if (first_rms == 0.0) first_rms = e.rms.front();
    for (std::size_t p = 0; p < kQuantities; ++p) {
      io::Series& curve = add_curve(plots[p], scheme, io::Series::Style::line);
      curve.x = c.time_ps;
      curve.y = c.change[p];
    }
  }
  // Diverging schemes leave the axis, so that the others remain visible.
  plots[0].y_range = {{-20.0 * first_rms, 20.0 * first_rms}};
  page.table(table);
  page.method(fmt::format(
      "Each run has {} steps. Values are medians over {} replicas; the picture shows the first "
      "replica.",
      deck.run.steps, deck.system.replicas));
  page.method(fmt::format("The unit of time is {:.5f} fs.", 1e3 * units::picoseconds_per_akma));
  page.method(
      "The drift is the absolute slope of a least-squares line. The rms is the deviation from the "
      "mean. If a replica blows up, both are taken up to that step.");
  page.write(plots);
}

}  // namespace

Reproduction conservation_page() {
  return {
      .deck = "conservation7.toml",
      .schemes = {"zss-stiff", "zss-stiff:omega=500", "shake:tolerance=1e-12", "settle",
                  "pushforward-newmark", "zss-stiff:hessian=full", "newmark-one-step",
                  "newmark-one-step:hessian=full"},
      .summary =
          "Energy, momentum and angular momentum of seven molecules were recorded without a "
          "thermostat. With the Gauss-Newton Hessian, Z&Ss conserves both momenta to round-off, "
          "as the constraint methods do; with the full Hessian it does not conserve angular "
          "momentum.\n\n"
          "* As in the paper, Z&Ss conserves energy and momenta better than Newmark's method with "
          "one Newton step.",
      .paper =
          "Z&Ss conserves energy and momenta better than Newmark's method with one step of "
          "Newton's iteration.",
      .make = make_conservation_page};
}

}  // namespace tarn
