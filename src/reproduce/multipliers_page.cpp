#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "numbers.hpp"
#include "pages.hpp"
#include "recorded_run.hpp"
#include "result_page.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

/// Steps of the reference in one step of the deck.
constexpr int kFineSteps = 20;
/// Half of the window, in steps of the deck: with h = 0.05 the window is the paper's 0.2.
constexpr int kHalfWindow = 2;

/// Multipliers of all bonds at each step of the deck, and their means over a centred window.
struct MultiplierSeries {
  std::vector<double> time_ps;
  std::vector<std::vector<double>> at_step, mean;  // [step][bond]; means are empty at the ends
};

/// @param fine steps of the run in one step of the deck
MultiplierSeries multipliers_of(const RecordedRun& run, int fine) {
  MultiplierSeries m;
  const int half = kHalfWindow * fine;
  const int last = static_cast<int>(run.frames.size()) - 1;
  for (int k = 0; k <= last; k += fine) {
    const Frame& frame = run.frames[static_cast<std::size_t>(k)];
    m.time_ps.push_back(frame.time_ps);
    m.at_step.push_back(frame.multipliers_kcal_per_mol_A2);
    std::vector<double>& mean = m.mean.emplace_back();
    if (k < half || k + half > last) continue;
    mean.assign(m.at_step.back().size(), 0.0);
    for (int j = -half; j <= half; ++j) {
      // Trapezoidal rule: the ends of the window count half.
      const double weight = (std::abs(j) == half ? 0.5 : 1.0) / (2.0 * half);
      const auto& values = run.frames[static_cast<std::size_t>(k + j)].multipliers_kcal_per_mol_A2;
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += weight * values[c];
    }
  }
  return m;
}

double relative_rms(const std::vector<std::vector<double>>& a,
                    const std::vector<std::vector<double>>& reference) {
  RelativeRms rms;
  for (std::size_t k = 0; k < std::min(a.size(), reference.size()); ++k)
    rms.add(a[k], reference[k]);
  return rms.value();
}

/// Adds the series to the CSV table and to the panels of means and of values at the steps.
void add_series(const std::string& label, const MultiplierSeries& m, ResultPage& page,
                std::array<io::Plot, 2>& plots) {
  io::Series& means = add_curve(plots[0], label, io::Series::Style::line);
  io::Series& values = add_curve(plots[1], label, io::Series::Style::line);
  for (std::size_t k = 0; k < m.time_ps.size(); ++k) {
    add_point(values, m.time_ps[k], m.at_step[k][0]);
    if (m.mean[k].empty()) continue;
    add_point(means, m.time_ps[k], m.mean[k][0]);
    for (std::size_t c = 0; c < m.mean[k].size(); ++c) {
      page.csv_row(label, m.time_ps[k], c / 3,
                   std::array<std::string_view, 3>{"OH1", "OH2", "HH"}[c % 3], m.at_step[k][c],
                   m.mean[k][c]);
    }
  }
}

void make_multipliers_page(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = page_deck(r, options);
  Deck fine = with_scheme(
      deck, fmt::format("rattle:timestep_fs={}", deck.integrator.timestep_fs / kFineSteps));
  fine.run.steps = deck.run.steps * kFineSteps;
  const RecordedRun reference_run = record_run(fine, kMultipliers, 1, options.threads);
  const MultiplierSeries reference = multipliers_of(reference_run, kFineSteps);

  ResultPage page(r, options,
                  {"scheme", "time_ps", "molecule", "bond", "lambda_kcal_per_mol_A2",
                   "lambda_mean_kcal_per_mol_A2"},
                  provenance_of(deck, reference_run.molecules));
  std::array<io::Plot, 2> plots{plot(r.title, "time (ps)", "λ, window mean (kcal/mol/Å²)"),
                                plot(r.title, "time (ps)", "λ at the steps (kcal/mol/Å²)")};
  add_series("rattle at a 20th of the step", reference, page, plots);
  MarkdownTable table(
      {"scheme", "relative rms error of window means", "relative rms error at the steps"});
  for (const std::string& scheme : r.schemes) {
    const MultiplierSeries m =
        multipliers_of(record_run(with_scheme(deck, scheme), kMultipliers, 1, options.threads), 1);
    add_series(scheme, m, page, plots);
    table.row({fmt::format("`{}`", scheme),
               fmt::format("{:.4f}", relative_rms(m.mean, reference.mean)),
               fmt::format("{:.4f}", relative_rms(m.at_step, reference.at_step))});
  }
  page.table(table);
  page.method(
      fmt::format("Each run has {} steps. Errors are taken over all bonds of all molecules, "
                  "against RATTLE with a step {} times shorter.",
                  deck.run.steps, kFineSteps));
  page.method(
      fmt::format("The window is centred and {} steps wide. The picture shows the first O-H "
                  "bond.",
                  2 * kHalfWindow));
  page.write({plots[0], plots[1]});
}

}  // namespace

Reproduction multipliers_page() {
  return {
      .deck = "multipliers7.toml",
      .schemes = {"zss-stiff", "rattle"},
      .summary =
          "The multipliers of the penalty and those of the constraints were compared for seven "
          "molecules. Their means over a window of 0.2 units of time agree, as in the paper.\n\n"
          "* The window matters less than in the paper. Z&Ss solves for a multiplier that is "
          "already free of the fast oscillation, because a step of this length does not resolve "
          "it.",
      .paper =
          "With ω = 500, the mean of the penalty's multiplier over a window of 0.2 units of time "
          "equals the multiplier of SHAKE.",
      .make = make_multipliers_page};
}

}  // namespace tarn
