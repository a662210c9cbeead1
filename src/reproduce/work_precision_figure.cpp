#include "work_precision_figure.hpp"

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
#include "tarn/compare.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "work_folder.hpp"

namespace tarn {
namespace {

constexpr double kDuration = 20.0, kShortestDuration = 2.0;
/// The longest step of each half, halved again and again.
struct Half {
  double omega, longest_step;
  int steps;
};
constexpr std::array kHalves{Half{2.0, 0.4, 7}, Half{50.0, 0.1, 8}};

/// Schemes of the long run, with steps of about forty forces for a unit of time.
struct Long {
  const char* scheme;
  double step;
};
constexpr std::array kLong{Long{"verlet", 0.025},
                           Long{"zs", 0.025},
                           Long{"midpoint", 0.125},
                           Long{"rk4", 0.1},
                           Long{"verlet:compose=yoshida4", 0.075},
                           Long{"verlet:compose=suzuki4", 0.125},
                           Long{"newmark-one-step", 0.025}};
constexpr double kLongTime = 10'000.0;
constexpr double kPointsInADecade = 8.0;

std::vector<double> steps_of(const Half& half) {
  std::vector<double> steps;
  for (int k = 0; k < half.steps; ++k) steps.push_back(std::ldexp(half.longest_step, -k));
  return steps;
}

/// Errors against time, of all schemes and steps.
io::Plot draw_half(const Half& half, const Deck& deck, const Reproduction& r,
                   const ReproduceOptions& options, FigurePage& figure) {
  CompareOptions compare;
  const WorkFolder folder(options.out_dir + "/" + r.name);
  compare.out_dir = folder.path();
  compare.steps = steps_of(half);
  compare.on_progress = options.on_progress;
  const CompareResult result = compare_schemes(deck, r.schemes, compare);
  io::Plot p =
      plot("", fmt::format("µs for a unit of time, ω = {}", half.omega), "largest error of q");
  p.log_x = p.log_y = true;
  for (const std::string& scheme : r.schemes) {
    io::Series& series = p.series.emplace_back();
    series.label = scheme;
    series.style = io::Series::Style::marked_line;
  }
  for (const MechanicsSchemeResult& s : result.mechanics) {
    const bool failed = !s.failure.empty();
    figure.csv().cell(std::string_view(r.schemes[s.scheme])).cell(half.omega).cell(s.step);
    for (const double number : {s.forces_per_time, s.us_per_time, s.errors.q_max, s.errors.v_max}) {
      figure.csv().cell_or_nan(failed ? std::nan("") : number);
    }
    figure.end_row();
    if (failed) continue;
    p.series[s.scheme].x.push_back(s.us_per_time);
    p.series[s.scheme].y.push_back(s.errors.q_max);
  }
  figure.text(
      fmt::format("\nω = {}, to time {}:\n\n| error of q within | least time for it (µs) |\n"
                  "|---|---|\n",
                  half.omega, result.time));
  for (const CheapestMechanicsScheme& best : cheapest_schemes(result.mechanics)) {
    figure.text(
        fmt::format("| {:.0e} | {:.3g}, `{}` |\n", best.within, best.us_per_time, best.label));
  }
  return p;
}

/// The largest change of the energy so far.
io::Series energy_of(const Long& scheme, const Deck& deck, double time, FigurePage& figure) {
  const Deck own = with_scheme(deck, fmt::format("{}:step={}", scheme.scheme, scheme.step));
  const mechanics::Experiment setup = make_experiment(own);
  const auto method = make_method(own, setup);
  mechanics::State s{setup.position, setup.velocity, {}, {}};
  method->begin(s);
  const double start = mechanics::energy(setup.whole(), s);
  const auto steps = static_cast<std::int64_t>(std::llround(time / scheme.step));
  io::Series series;
  series.label = fmt::format("{}, h = {}", scheme.scheme, scheme.step);
  double largest = 0.0, first = 0.0, next = 1.0;
  for (std::int64_t step = 1; step <= steps; ++step) {
    method->step(s);
    largest = std::max(largest, std::abs(mechanics::energy(setup.whole(), s) - start));
    const double now = static_cast<double>(step) * scheme.step;
    if (now < next && step < steps) continue;
    if (first == 0.0 && now >= 100.0) first = largest;
    series.x.push_back(now);
    series.y.push_back(largest);
    next = now * std::pow(10.0, 1.0 / kPointsInADecade);
  }
  const double forces = static_cast<double>(method->costs().forces) / time;
  figure.text(fmt::format("| `{}` | {} | {:.0f} | {:.1e} | {:.1e} |\n", scheme.scheme, scheme.step,
                          forces, first, largest));
  return series;
}

}  // namespace

void make_work_precision_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage figure(
      r, options,
      {"scheme", "omega", "step", "forces_per_time", "us_per_time", "q_error_max", "v_error_max"});
  std::vector<io::Plot> plots;
  const double duration = std::max(kShortestDuration, options.share_of_time * kDuration);
  for (const Half& half : kHalves) {
    plots.push_back(draw_half(half,
                              load_deck(options.inputs_dir + "/" + r.deck,
                                        {fmt::format("integrator.omega={}", half.omega),
                                         fmt::format("run.duration={}", duration)}),
                              r, options, figure));
  }
  plots.front().title = r.title;
  io::Plot energy = plot("", "time, ω = 2", "largest change of the energy");
  energy.log_x = energy.log_y = true;
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck);
  const double time = std::max(200.0, options.share_of_time * kLongTime);
  figure.text(fmt::format(
      "\nThe largest change of the energy, ω = 2, with about forty forces for a unit of time:\n\n"
      "| scheme | step | forces for a unit of time | to time 100 | to time {:g} |\n"
      "|---|---|---|---|---|\n",
      time));
  for (const Long& scheme : kLong) {
    energy.series.push_back(energy_of(scheme, deck, time, figure));
  }
  plots.push_back(std::move(energy));
  figure.write(plots);
}

}  // namespace tarn
