#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "run/mechanics_experiment.hpp"
#include "step_time.hpp"
#include "tarn/analysis/line_fit.hpp"

namespace tarn {
namespace {

using mechanics::State;

constexpr std::array kPoints{10, 32, 100, 316, 1000, 3162, 10000};
constexpr int kFitFrom = 100;  // points
constexpr int kTurns = 7;

/// A scheme on a chain. Every timed step is the first, since long chains soon move otherwise than
/// short ones.
struct TimedChain {
  mechanics::Experiment setup;
  std::unique_ptr<mechanics::Method> method;
  State start;
  std::int64_t steps = 1;                                    // of a turn
  double seconds = std::numeric_limits<double>::infinity();  // of a step

  double turn() {
    return core_seconds_of([&] {
      for (std::int64_t k = 0; k < steps; ++k) {
        State s = start;
        method->step(s);
      }
    });
  }
  std::int64_t iterations() const {
    const mechanics::Costs costs = method->costs();
    return std::llround(static_cast<double>(costs.iterations) / static_cast<double>(costs.steps));
  }
};
using Chains = std::vector<std::vector<TimedChain>>;  // by scheme and number of points

Chains make_chains(const Reproduction& r, const ReproduceOptions& options) {
  const double turn_seconds = 0.05 * options.share_of_time;
  Chains all;
  for (const std::string& scheme : r.schemes) {
    std::vector<TimedChain>& chains = all.emplace_back();
    for (const int points : kPoints) {
      const Deck deck =
          with_scheme(page_deck(r, options, {fmt::format("system.n={}", points)}), scheme);
      TimedChain& c = chains.emplace_back();
      c.setup = make_experiment(deck);
      c.method = make_method(deck, c.setup);
      c.start = {c.setup.position, c.setup.velocity, {}, {}};
      c.method->begin(c.start);
      while (c.turn() < turn_seconds) c.steps *= 2;
    }
  }
  return all;
}

/// Times all chains in turns, so that other load of the machine affects all alike.
void time_chains(Chains& all) {
  for (int turn = 0; turn < kTurns; ++turn) {
    for (auto& chains : all) {
      for (TimedChain& c : chains) {
        c.seconds = std::min(c.seconds, c.turn() / static_cast<double>(c.steps));
      }
    }
  }
}

/// Exponent of the time per step, or per iteration where a step has several.
double exponent_of(const std::vector<TimedChain>& chains) {
  std::vector<double> log_n, log_time;
  for (std::size_t k = 0; k < kPoints.size(); ++k) {
    if (kPoints[k] < kFitFrom) continue;
    const auto iterations = std::max<std::int64_t>(1, chains[k].iterations());
    log_n.push_back(std::log(kPoints[k]));
    log_time.push_back(std::log(chains[k].seconds / static_cast<double>(iterations)));
  }
  return analysis::fit_line(log_n, log_time).slope;
}

std::vector<io::Plot> pictures(const Reproduction& r, const Chains& all) {
  std::vector<io::Plot> plots{log_plot(r.title, "", "step (ratio)"),
                              log_plot("", "number of points n", "per point")};
  for (io::Plot& p : plots) p.x_range = {7.0, 14000.0};
  plots[1].y_range = {0.05, 0.5};
  io::Series& guide = plots[0].series.emplace_back(order_guide(1, 10000.0, 300.0, 10.0));
  guide.label = "as n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    io::Series& per_step = add_curve(plots[0], r.schemes[i]);
    io::Series& per_point = add_curve(plots[1], r.schemes[i]);
    per_step.colour = per_point.colour = io::palette_colour(i);
    for (std::size_t k = 0; k < kPoints.size(); ++k) {
      const double n = kPoints[k], ratio = all[i][k].seconds / all[0][0].seconds;
      add_point(per_step, n, ratio);
      add_point(per_point, n, ratio / n);
    }
  }
  return plots;
}

void make_chain_cost_page(const Reproduction& r, const ReproduceOptions& options) {
  Chains all = make_chains(r, options);
  time_chains(all);
  ResultPage page(r, options, {"scheme", "points", "core_us_per_step", "ratio", "iterations"});
  MarkdownTable::Cells header{"scheme"};
  for (const int points : kPoints) header.push_back(fmt::format("n = {}", points));
  header.push_back(fmt::format("exponent from n = {}", kFitFrom));
  MarkdownTable table(header);
  for (std::size_t i = 0; i < all.size(); ++i) {
    MarkdownTable::Cells cells{fmt::format("`{}`", r.schemes[i])};
    for (std::size_t k = 0; k < kPoints.size(); ++k) {
      const TimedChain& c = all[i][k];
      const double ratio = c.seconds / all[0][0].seconds;
      const std::int64_t iterations = c.iterations();
      page.csv_row(r.schemes[i], kPoints[k], 1e6 * c.seconds, ratio, iterations);
      cells.push_back(fmt::format("{:.{}f}{}", ratio, ratio < 99.5 ? 1 : 0,
                                  iterations > 0 ? fmt::format(" ({})", iterations) : ""));
    }
    cells.push_back(fmt::format("{:.2f}", exponent_of(all[i])));
    table.row(cells);
  }
  page.table(table);
  page.method(fmt::format(
      "Values are core times per step, divided by that of the first scheme with ten points; "
      "Newton iterations per step are in brackets. Each value is the shortest of {} turns on one "
      "thread. In each turn all schemes and lengths ran one after the other.",
      kTurns));
  page.method("Every timed step starts from the initial state.");
  page.method(
      "The exponent is the slope of a line fitted to the logarithms. For SHAKE and RATTLE it is "
      "the exponent of the time per iteration.");
  page.write(pictures(r, all));
}

}  // namespace

Reproduction chain_cost_page() {
  return {
      .deck = "pendulum-chain.toml",
      .schemes = {"zs", "zss", "shake", "rattle"},
      .summary =
          "The time per step was measured for chains of 10 to 10 000 points. The solves are "
          "banded, and the time grows linearly with the number of points n.\n\n"
          "* From 100 to 10 000 points, the time per step of Z&S and of the simplified method "
          "grows as n^1.01. The time per iteration grows as n^1.00 for SHAKE and as n^0.98 for "
          "RATTLE.\n"
          "* A step of SHAKE or RATTLE takes longer if Newton's method needs a third iteration.\n"
          "* SHAKE takes 1.1 to 1.6 times as long as Z&S.",
      .paper =
          "For water, whose Hessian is dominated by blocks, the paper states that solves take "
          "O(N) time. It makes no statement about the chain.",
      .make = make_chain_cost_page};
}

}  // namespace tarn
