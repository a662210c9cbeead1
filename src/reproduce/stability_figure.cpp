#include "stability_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "figure_page.hpp"
#include "run/mechanics_experiment.hpp"
#include "tarn/core/error.hpp"
#include "tarn/mechanics/diagnostics.hpp"

namespace tarn {
namespace {

using mechanics::Experiment;
using Point = mechanics::State;

constexpr std::array kOmegas{10.0, 20.0, 30.0, 40.0, 70.0, 100.0, 200.0, 400.0, 1000.0};
constexpr std::size_t kStarts = 16;
constexpr double kBetweenStarts = 1.7;
constexpr std::int64_t kSteps = 10'000;
/// The pendulum stands on its head at an energy of this above that of hanging, with all masses and
/// lengths as in the deck; what comes from nowhere is more than that.
constexpr double kMuchEnergy = 10.0;

/// Points of one motion with rigid rods.
std::vector<Point> starts_of(const Deck& deck) {
  Deck rigid = with_scheme(deck, "rattle");
  rigid.mechanics.integrator.step = 0.01;
  const Experiment setup = make_experiment(rigid);
  const auto method = make_method(rigid, setup);
  Point s{setup.position, setup.velocity, {}, {}};
  method->begin(s);
  std::vector<Point> starts;
  const auto between = std::llround(kBetweenStarts / rigid.mechanics.integrator.step);
  while (starts.size() < kStarts) {
    starts.push_back({s.x, s.v, {}, {}});
    for (std::int64_t step = 0; step < between; ++step) method->step(s);
  }
  return starts;
}

struct Survival {
  std::int64_t steps = 0;
  const char* lost_by = "nothing";
};

/// Until it fails, or gets energy from nowhere.
Survival survival(const Deck& deck, const Experiment& setup, Point s, std::int64_t steps) {
  const auto method = make_method(deck, setup);
  method->begin(s);
  const double start = mechanics::energy(setup.whole(), *method, s);
  for (std::int64_t step = 0; step < steps; ++step) {
    try {
      method->step(s);
    } catch (const NumericalError&) {
      return {step, "solve"};
    }
    if (!(std::abs(mechanics::energy(setup.whole(), *method, s) - start) < kMuchEnergy)) {
      return {step, "energy"};
    }
  }
  return {steps};
}

/// "all", or how many and when the middle one of the others was lost.
std::string survivors(std::vector<std::int64_t> lost, double h) {
  if (lost.empty()) return "all";
  std::sort(lost.begin(), lost.end());
  return fmt::format("{}, {:.3g}", kStarts - lost.size(),
                     h * static_cast<double>(lost[lost.size() / 2]));
}

}  // namespace

void make_stability_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  const double h = deck.mechanics.integrator.step;
  const std::vector<Point> starts = starts_of(deck);
  const auto steps = static_cast<std::int64_t>(options.share_of_time * kSteps);
  FigurePage figure(r, options, {"scheme", "omega", "start", "steps_survived", "lost_by"});
  std::string head = "| scheme |", line = "|---|";
  for (const double omega : kOmegas) {
    head += fmt::format(" ω = {:g} |", omega);
    line += "---|";
  }
  figure.text(head + "\n" + line + "\n");
  io::Plot p = plot(r.title, "ω h", fmt::format("steps, of the middle one of {} starts", kStarts));
  p.log_x = p.log_y = true;
  for (const std::string& scheme : r.schemes) {
    io::Series& series = p.series.emplace_back();
    series.label = scheme;
    series.style = io::Series::Style::marked_line;
    std::string row = fmt::format("| `{}` |", scheme);
    for (const double omega : kOmegas) {
      const Deck own = with_scheme(deck, fmt::format("{}:omega={}", scheme, omega));
      const Experiment setup = make_experiment(own);
      std::vector<std::int64_t> lost, all;
      for (std::size_t k = 0; k < starts.size(); ++k) {
        const Survival of_start = survival(own, setup, starts[k], steps);
        all.push_back(std::max<std::int64_t>(1, of_start.steps));
        if (of_start.steps < steps) lost.push_back(of_start.steps);
        figure.csv().cell(std::string_view(scheme)).cell(omega).cell(static_cast<std::int64_t>(k));
        figure.csv().cell(of_start.steps).cell(std::string_view(of_start.lost_by));
        figure.end_row();
      }
      row += fmt::format(" {} |", survivors(lost, h));
      series.x.push_back(omega * h);
      std::ranges::sort(all);
      series.y.push_back(static_cast<double>(all[all.size() / 2]));
    }
    figure.text(row + "\n");
  }
  figure.text(fmt::format(
      "\nOf {} starts, points of one motion {} apart in time, those left at time {:g}, and when "
      "the middle one of the others was lost: a solve that did not end, or a change of the energy"
      " by more than {:g}. Energies are those that Newmark's methods keep, at q = x + βh²a. The "
      "step is {:g}.\n",
      kStarts, kBetweenStarts, h * static_cast<double>(steps), kMuchEnergy, h));
  figure.write({p});
}

}  // namespace tarn
