#include "mechanics_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "figure_page.hpp"
#include "run/mechanics_experiment.hpp"
#include "step_cost.hpp"
#include "tarn/analysis/line_fit.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/mechanics/diagnostics.hpp"

namespace tarn {
namespace {

using mechanics::Costs;
using mechanics::Experiment;
using mechanics::Index;
using mechanics::State;
using mechanics::Vector;

constexpr int kRepeats = 20;

/// A run of a deck, its states at every so many steps; `seconds` is the core time of
/// the shortest of kRepeats runs.
struct Watched {
  std::string label;
  Experiment setup;
  std::vector<double> times;
  std::vector<State> states;
  Costs costs;
  double seconds = 0.0;

  Vector coordinate(Index i) const {
    Vector values(static_cast<Index>(states.size()));
    for (std::size_t k = 0; k < states.size(); ++k) values[static_cast<Index>(k)] = states[k].x[i];
    return values;
  }
};

Watched watch(const Deck& deck, const std::string& label, std::int64_t every,
              int repeats = kRepeats) {
  const MechanicsDeck& m = deck.mechanics;
  Watched w;
  w.label = label;
  w.setup = make_experiment(deck);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    w.times.clear();
    w.states.clear();
    const auto method = make_method(deck, w.setup);
    State s{w.setup.position, w.setup.velocity, {}, {}};
    const double seconds = core_seconds_of([&] {
      method->begin(s);
      for (std::int64_t step = 0;; ++step) {
        if (step % every == 0) {
          w.times.push_back(static_cast<double>(step) * m.integrator.step);
          w.states.push_back(s);
        }
        if (step == m.run.steps) break;
        method->step(s);
      }
    });
    w.seconds = repeat == 0 ? seconds : std::min(w.seconds, seconds);
    w.costs = method->costs();
  }
  return w;
}

Deck with_step(const Deck& deck, const std::string& scheme, double factor) {
  Deck other = with_scheme(deck, scheme);
  other.mechanics.integrator.step *= factor;
  other.mechanics.run.steps = static_cast<std::int64_t>(
      std::llround(static_cast<double>(deck.mechanics.run.steps) / factor));
  return other;
}

/// Points of a curve, one of so many, that do not hide the curve below them.
io::Series points_of(const io::Series& whole, std::size_t first, std::size_t every) {
  io::Series points;
  points.label = whole.label;
  points.style = io::Series::Style::points;
  for (std::size_t k = first; k < whole.x.size(); k += every) {
    points.x.push_back(whole.x[k]);
    points.y.push_back(whole.y[k]);
  }
  return points;
}

/// Seconds of the paper, by scheme; "zs" is among them.
using PaperSeconds = std::map<std::string_view, double>;

std::string costs_text(const Watched& w, const Watched& zs, const PaperSeconds& paper) {
  const auto found = paper.find(w.label);
  return tarn::costs_text(w.costs, w.seconds / zs.seconds,
                          found == paper.end()
                              ? std::optional<std::array<double, 2>>()
                              : std::array<double, 2>{found->second, paper.at("zs")});
}

}  // namespace

void make_double_pendulum_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  constexpr double kFine = 1e-3;
  const Watched reference = watch(with_step(deck, "rattle", kFine), "reference", 1000, 1);
  FigurePage figure(r, options, {"scheme", "time", "x2_error", "y2_error"});
  figure.text(fmt::format(
      "| scheme | max error of x₂ | of y₂ | steps | {} |\n|---|---|---|---|---|---|---|---|\n",
      kCostsHeader));
  // One-step Newmark with the Hessian by formula.
  const PaperSeconds paper{{"shake", 3.8},
                           {"variational-euler", 1.0},
                           {"newmark", 5.3},
                           {"newmark-one-step", 0.2},
                           {"zs", 0.4}};
  const Watched zs = watch(deck, "zs", 1);
  // Three schemes to a pair of axes, so that none is hidden.
  constexpr std::size_t kTogether = 3;
  std::vector<io::Plot> plots;
  for (std::size_t k = 0; k < r.schemes.size(); ++k) {
    const std::string& scheme = r.schemes[k];
    const bool is_explicit = scheme == "variational-euler";
    // Stable steps of explicit schemes are short: h = 0.1/omega.
    const int inner = is_explicit ? 20 : 1;
    const Watched w = watch(with_step(deck, scheme, 1.0 / inner), scheme, inner);
    std::string line = fmt::format("| `{}` |", scheme);
    if (k % kTogether == 0) {
      plots.push_back(plot(r.title, "time", "x₂ - exact"));
      plots.push_back(plot("", "time", "y₂ - exact"));
    }
    for (const Index i : {2, 3}) {
      const Vector error = w.coordinate(i) - reference.coordinate(i);
      line += fmt::format(" {:.4f} |", error.cwiseAbs().maxCoeff());
      io::Plot& p = plots[plots.size() - (i == 2 ? 2 : 1)];
      p.series.push_back(series(scheme, w.times, error));
      p.series.back().dashed = p.series.size() == 2;
    }
    figure.text(line + fmt::format(" {} |\n", costs_text(w, zs, paper)));
    for (std::size_t j = 0; j < w.times.size(); ++j) {
      figure.csv().cell(std::string_view(scheme)).cell(w.times[j]);
      for (Index i : {2, 3}) figure.csv().cell(w.states[j].x[i] - reference.states[j].x[i]);
      figure.end_row();
    }
  }
  figure.text(kCostsRemark);
  figure.text("The reference is RATTLE with a step a thousand times shorter.\n");
  figure.write(plots);
}

namespace {

constexpr double kWindow = 0.2, kSampled = 0.01, kMultipliersUntil = 10.0;

/// ω² g at all steps of a run.
std::vector<Vector> penalty_multipliers(const Watched& w, double omega) {
  std::vector<Vector> all;
  for (const State& s : w.states) {
    all.push_back(omega * omega * w.setup.constraint->values(s.x));
  }
  return all;
}

/// Multipliers at kWindow / 2 and on, kSampled apart, as long as windows about them are whole: one
/// that ends with the run is of one side, and off.
struct Sampled {
  std::vector<double> times;
  std::vector<Vector> values;
};

/// @param window 0 for the values themselves
Sampled sampled(const std::vector<Vector>& all, double step, double window) {
  // Sums by the trapezoidal rule from the start.
  std::vector<Vector> sums{Vector::Zero(all.front().size())};
  for (std::size_t k = 1; k < all.size(); ++k) {
    sums.emplace_back(sums.back() + 0.5 * (all[k - 1] + all[k]));
  }
  const auto steps = [&](double time) {
    return static_cast<std::size_t>(std::lround(time / step));
  };
  const std::size_t half = steps(0.5 * window);
  Sampled result;
  for (std::size_t k = steps(0.5 * kWindow); k + steps(0.5 * kWindow) <= steps(kMultipliersUntil);
       k += steps(kSampled)) {
    result.times.push_back(static_cast<double>(k) * step);
    result.values.push_back(
        half == 0 ? all[k]
                  : Vector((sums[k + half] - sums[k - half]) / static_cast<double>(2 * half)));
  }
  return result;
}

/// Of the larger error of the two multipliers, over the times.
struct MultiplierError {
  double median = 0.0, rms = 0.0, largest = 0.0;
};

MultiplierError error_of(const Sampled& s, const Sampled& rigid) {
  std::vector<double> errors;
  double squares = 0.0;
  for (std::size_t k = 0; k < s.values.size(); ++k) {
    errors.push_back((s.values[k] - rigid.values[k]).lpNorm<Eigen::Infinity>());
    squares += errors.back() * errors.back();
  }
  return {quantile_of(errors, 0.5), std::sqrt(squares / static_cast<double>(errors.size())),
          quantile_of(errors, 1.0)};
}

double largest_of(const std::vector<Vector>& all) {
  double largest = 0.0;
  for (const Vector& v : all) largest = std::max(largest, v.norm());
  return largest;
}

io::Series first_of(std::string label, const Sampled& s) {
  io::Series series;
  series.label = std::move(label);
  series.x = s.times;
  for (const Vector& v : s.values) series.y.push_back(v[0]);
  return series;
}

}  // namespace

void make_penalty_figure(const Reproduction& r, const ReproduceOptions& options) {
  const std::string path = options.inputs_dir + "/" + r.deck;
  constexpr double kStep = 0.01;
  constexpr double kAside = 1.025;  // of points of Z&S, which would hide others
  FigurePage figure(
      r, options,
      {"omega", "scheme", "omega2_g_max", "omega2_g_end", "instant_error_rms", "instant_error_max",
       "window_error_median", "window_error_rms", "window_error_max"});
  figure.text(
      "| ω | ω² max \\|g\\|, exact | at t = 50 | by Z&S with h = 0.01, max | error of the mean, "
      "exact: rms | largest | by Z&S: rms | largest | error of ω² g, exact: rms | largest |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  io::Plot of_omega = plot(r.title, "ω", "ω² |g|"), errors = plot("", "ω", "error of multipliers");
  of_omega.y_range = {0.0, 5.0};
  errors.y_range = {5e-3, 5.0};
  for (io::Plot* p : {&of_omega, &errors}) {
    p->log_x = true;
    p->x_range = {8.0, 200.0};
  }
  errors.log_y = true;
  const auto points = [](io::Plot& p, const char* label, std::size_t colour) {
    io::Series& s = p.series.emplace_back();
    s.label = label;
    s.style = io::Series::Style::points;
    s.colour = io::palette_colour(colour);
  };
  points(of_omega, "largest, exact", 0);
  points(of_omega, "largest, Z&S with h = 0.01", 1);
  points(of_omega, "at t = 50, exact", 2);
  points(errors, "ω² g, exact", 3);
  points(errors, "mean over 0.2, exact", 0);
  points(errors, "mean over 0.2, Z&S with h = 0.01", 1);
  const Deck until = load_deck(path, {fmt::format("integrator.step={}", kStep),
                                      fmt::format("run.duration={}", kMultipliersUntil)});
  const Watched shake = watch(with_scheme(until, "shake"), "shake", 1, 1);
  std::vector<Vector> lambda;
  for (const mechanics::State& s : shake.states) lambda.push_back(s.lambda);
  const Sampled rigid = sampled(lambda, kStep, 0.0);
  for (int k = 0; k <= 16; ++k) {
    // Even, so that all times are steps of the exact run.
    const double omega = 2.0 * std::round(5.0 * std::pow(2.0, 0.25 * k));
    const Deck deck =
        load_deck(path, {fmt::format("integrator.omega={}", omega),
                         fmt::format("integrator.step={}", kStep), "run.duration=50"});
    const double fine = 0.02 / omega;
    const auto exact =
        penalty_multipliers(watch(with_step(deck, "verlet", fine / kStep), "verlet", 1, 1), omega);
    const auto by_zs = penalty_multipliers(watch(deck, "zs", 1, 1), omega);
    figure.text(fmt::format("| {} | {:.3f} | {:.3f} | {:.3f} |", omega, largest_of(exact),
                            exact.back().norm(), largest_of(by_zs)));
    std::array<MultiplierError, 2> instant, window;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& all = i == 0 ? exact : by_zs;
      const double step = i == 0 ? fine : kStep;
      instant[i] = error_of(sampled(all, step, 0.0), rigid);
      window[i] = error_of(sampled(all, step, kWindow), rigid);
      figure.csv().cell(omega).cell(i == 0 ? "exact" : "zs");
      figure.csv().cell(largest_of(all)).cell(all.back().norm());
      figure.csv().cell(instant[i].rms).cell(instant[i].largest);
      figure.csv().cell(window[i].median).cell(window[i].rms).cell(window[i].largest);
      figure.end_row();
      figure.text(fmt::format(" {:.3f} | {:.3f} |", window[i].rms, window[i].largest));
    }
    figure.text(fmt::format(" {:.3f} | {:.3f} |\n", instant[0].rms, instant[0].largest));
    const std::array values{largest_of(exact), largest_of(by_zs), exact.back().norm()};
    const std::array of_errors{instant[0], window[0], window[1]};
    for (std::size_t i = 0; i < values.size(); ++i) {
      of_omega.series[i].x.push_back(i == 1 ? kAside * omega : omega);
      of_omega.series[i].y.push_back(values[i]);
      io::Series& s = errors.series[i];
      s.x.push_back(i == 2 ? kAside * omega : omega);
      s.y.push_back(of_errors[i].rms);
      s.low.push_back(of_errors[i].median);
      s.high.push_back(of_errors[i].largest);
    }
  }

  const double omega = *until.mechanics.integrator.omega;
  const auto by_zs = penalty_multipliers(watch(until, "zs", 1, 1), omega);
  io::Plot of_time = plot("", "time", "first multiplier");
  of_time.y_range = {0.0, 2.5};
  of_time.series = {first_of(fmt::format("ω² g, ω = {}", omega), sampled(by_zs, kStep, 0.0)),
                    first_of("SHAKE", rigid),
                    first_of("mean of ω² g over 0.2", sampled(by_zs, kStep, kWindow))};
  figure.text(
      "\nMultipliers are compared with SHAKE's, with h = 0.01, from t = 0.1 to 9.9, every 0.01; "
      "the larger error of the two. Windows are centred. Where one would reach over an end of the "
      "run it is left out: of one side only, it is off. Bars go from the median to the largest "
      "error, points are root mean squares. *Exact* is velocity Verlet with h ω = 0.02.\n");
  figure.write({of_omega, of_time, errors});
}

void make_chain_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  constexpr double kFine = 0.01;
  const Watched reference = watch(with_step(deck, "rattle", kFine), "reference", 100, 1);
  const Watched zs = watch(deck, "zs", 1);
  const Index last = zs.setup.position.size() - 2;
  FigurePage figure(r, options, {"scheme", "time", "x_last", "y_last", "error_max"});
  figure.text(fmt::format(
      "| scheme | max error of all coordinates | steps | {} |\n|---|---|---|---|---|---|---|\n",
      kCostsHeader));
  const PaperSeconds paper{{"shake", 8.1}, {"shake:step=0.025", 16.5}, {"zs", 1.1}};
  std::vector<io::Plot> plots{plot(r.title, "time", "x of the last point"),
                              plot("", "time", "y of the last point"),
                              plot("", "time", "largest error")};
  plots[2].log_y = true;
  plots[2].y_range = {1e-6, 1e-1};
  for (const std::string& scheme : r.schemes) {
    const Deck own = with_scheme(deck, scheme);
    const Watched w = watch(
        own, scheme, std::llround(deck.mechanics.integrator.step / own.mechanics.integrator.step));
    Vector errors(static_cast<Index>(w.states.size()));
    for (std::size_t k = 0; k < w.states.size(); ++k) {
      double& error = errors[static_cast<Index>(k)];
      error = (w.states[k].x - reference.states[k].x).lpNorm<Eigen::Infinity>();
      figure.csv().cell(std::string_view(scheme)).cell(w.times[k]);
      figure.csv().cell(w.states[k].x[last]).cell(w.states[k].x[last + 1]).cell(error);
      figure.end_row();
    }
    figure.text(fmt::format("| `{}` | {:.4f} | {} |\n", scheme, errors.maxCoeff(),
                            costs_text(w, zs, paper)));
    for (Index i : {0, 1}) {
      std::vector<io::Series>& curves = plots[static_cast<std::size_t>(i)].series;
      const io::Series whole = series(scheme, w.times, w.coordinate(last + i));
      curves.push_back(curves.size() < 2 ? whole : points_of(whole, 10 * curves.size(), 40));
    }
    plots[2].series.push_back(series(scheme, w.times, errors));
    // What lies on top of another curve lets it be seen.
    for (io::Plot& p : plots) p.series.back().dashed = p.series.size() % 2 == 0;
  }
  figure.text(kCostsRemark);
  figure.text("The reference is RATTLE with a step a hundred times shorter.\n");
  figure.write(plots);
}

namespace {

constexpr std::array kPoints{10, 32, 100, 316, 1000, 3162, 10000};
constexpr int kFitFrom = 100;  // points

/// A scheme on a chain. Every step is the first: a long chain soon hangs in another way than a
/// short one.
struct TimedChain {
  Experiment setup;
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
};

}  // namespace

void make_chain_cost_figure(const Reproduction& r, const ReproduceOptions& options) {
  constexpr int kTurns = 7;
  const double of_a_turn = 0.05 * options.share_of_time;  // seconds
  std::vector<std::vector<TimedChain>> all;               // by scheme and number of points
  for (const std::string& scheme : r.schemes) {
    std::vector<TimedChain>& chains = all.emplace_back();
    for (const int points : kPoints) {
      const Deck deck = with_scheme(
          load_deck(options.inputs_dir + "/" + r.deck, {fmt::format("system.n={}", points)}),
          scheme);
      TimedChain& c = chains.emplace_back();
      c.setup = make_experiment(deck);
      c.method = make_method(deck, c.setup);
      c.start = {c.setup.position, c.setup.velocity, {}, {}};
      c.method->begin(c.start);
      while (c.turn() < of_a_turn) c.steps *= 2;
    }
  }
  // In turns, so that what else the machine does falls on all alike.
  for (int turn = 0; turn < kTurns; ++turn) {
    for (auto& chains : all) {
      for (TimedChain& c : chains) {
        c.seconds = std::min(c.seconds, c.turn() / static_cast<double>(c.steps));
      }
    }
  }

  FigurePage figure(r, options, {"scheme", "points", "core_us_per_step", "ratio", "iterations"});
  figure.text("| scheme |");
  for (const int points : kPoints) figure.text(fmt::format(" n = {} |", points));
  figure.text(fmt::format(" exponent from n = {} on |\n|---|", kFitFrom));
  for (std::size_t k = 0; k < kPoints.size() + 1; ++k) figure.text("---|");
  figure.text("\n");
  std::vector<io::Plot> plots{plot(r.title, "", "step (ratio)"),
                              plot("", "number of points n", "for each point")};
  for (io::Plot& p : plots) {
    p.log_x = p.log_y = true;
    p.x_range = {7.0, 14000.0};
  }
  plots[1].y_range = {0.05, 0.5};
  io::Series& guide = plots[0].series.emplace_back(order_guide(1, 10000.0, 300.0, 10.0));
  guide.label = "as n";
  const double one = all[0][0].seconds;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> log_n, log_time;
    io::Series of_step, of_point;
    figure.text(fmt::format("| `{}` |", r.schemes[i]));
    for (std::size_t k = 0; k < kPoints.size(); ++k) {
      const TimedChain& c = all[i][k];
      const double n = kPoints[k], ratio = c.seconds / one;
      const Costs costs = c.method->costs();
      const auto iterations =
          std::llround(static_cast<double>(costs.iterations) / static_cast<double>(costs.steps));
      figure.csv().cell(std::string_view(r.schemes[i])).cell(std::int64_t{kPoints[k]});
      figure.csv().cell(1e6 * c.seconds).cell(ratio).cell(std::int64_t{iterations});
      figure.end_row();
      figure.text(fmt::format(" {:.{}f}{} |", ratio, ratio < 99.5 ? 1 : 0,
                              iterations > 0 ? fmt::format(" ({})", iterations) : ""));
      of_step.x.push_back(n);
      of_step.y.push_back(ratio);
      of_point.x.push_back(n);
      of_point.y.push_back(ratio / n);
      if (kPoints[k] < kFitFrom) continue;
      log_n.push_back(std::log(n));
      log_time.push_back(std::log(ratio / static_cast<double>(std::max(1LL, iterations))));
    }
    figure.text(fmt::format(" {:.2f} |\n", analysis::fit_line(log_n, log_time).slope));
    for (io::Series* s : {&of_step, &of_point}) {
      s->label = r.schemes[i];
      s->style = io::Series::Style::marked_line;
      s->colour = io::palette_colour(i);
    }
    plots[0].series.push_back(std::move(of_step));
    plots[1].series.push_back(std::move(of_point));
  }
  figure.text(
      "\nCore time of a step from the start, again and again, as a ratio to the first scheme's "
      "with "
      "ten points, and in brackets Newton iterations a step; the shortest of seven turns, which "
      "all schemes and sizes took one after the other on one thread. The exponent is the slope of "
      "a "
      "line through logarithms, of SHAKE and RATTLE of the time of an iteration.\n");
  figure.write(plots);
}

namespace {

constexpr double kOpen = 5.0;  // mean angle of an open strand
constexpr std::uint64_t kSeeds = 20;

/// Time at which the mean angle passes kOpen, if it does.
std::optional<double> opening(const Watched& w) {
  for (std::size_t k = 0; k < w.states.size(); ++k) {
    if (w.states[k].x.mean() > kOpen) return w.times[k];
  }
  return {};
}

double mean_energy(const Watched& w) {
  double sum = 0.0;
  for (const State& s : w.states) sum += mechanics::energy(w.setup.whole(), s);
  return sum / static_cast<double>(w.states.size());
}

/// The opening with seeds 1 to kSeeds: a row of a table.
std::string opening_by_seed(Deck deck, const std::string& scheme, std::int64_t every) {
  std::vector<double> times;
  double energy = 0.0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    deck.mechanics.system.seed = seed;
    const Watched w = watch(deck, scheme, every, 1);
    energy += mean_energy(w) / kSeeds;
    if (const auto time = opening(w)) times.push_back(*time);
  }
  const Eigen::Map<const Eigen::ArrayXd> t(times.data(), static_cast<Index>(times.size()));
  const double mean = t.size() > 0 ? t.mean() : 0.0;
  const double scatter =
      t.size() > 1 ? std::sqrt((t - mean).square().sum() / static_cast<double>(t.size() - 1)) : 0.0;
  return fmt::format("| `{}` | {} of {} | {:.1f} ± {:.1f} | {:.2f} |\n", scheme, t.size(), kSeeds,
                     mean, scatter, energy);
}

}  // namespace

void make_dna_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  const Watched zs = watch(deck, "zs", 1);
  FigurePage figure(r, options, {"scheme", "time", "theta_bar", "theta_bar_rate", "energy"});
  figure.text(fmt::format(
      "| scheme | step | time at which the mean angle passes 5 | mean energy | steps | {} |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      kCostsHeader));
  const PaperSeconds paper{{"verlet", 23.26}, {"zs", 3.24}};
  std::vector<io::Plot> plots{plot(r.title, "time", "mean angle"), plot("", "time", "energy"),
                              plot("", "mean angle", "rate of the mean angle")};
  std::string seeds = fmt::format(
      "\nThe picture and this table are of seed {}. Seeds 1 to {}, the time with its scatter:\n\n"
      "| scheme | seeds that open | time at which the mean angle passes 5 | mean energy |\n"
      "|---|---|---|---|\n",
      deck.mechanics.system.seed, kSeeds);
  struct Curve {
    const char *scheme, *label;
    double factor;  ///< of the deck's step
  };
  // The paper's two; Verlet near its longest step; one that has converged.
  for (const auto& [scheme, label, factor] :
       {Curve{"verlet", "verlet", 0.1}, Curve{"zs", "zs", 1.0},
        Curve{"verlet", "verlet:step=0.8", 0.4}, Curve{"rk4", "rk4", 0.1}}) {
    const Deck other = with_step(deck, scheme, factor);
    const auto every = static_cast<std::int64_t>(std::lround(1.0 / factor));
    seeds += opening_by_seed(other, label, every);
    const Watched w = watch(other, label, every);
    Vector angle(static_cast<Index>(w.states.size())), rate(angle.size()), energy(angle.size());
    for (std::size_t k = 0; k < w.states.size(); ++k) {
      const auto i = static_cast<Index>(k);
      angle[i] = w.states[k].x.mean();
      rate[i] = w.states[k].v.mean();
      energy[i] = mechanics::energy(w.setup.whole(), w.states[k]);
      figure.csv().cell(std::string_view(label)).cell(w.times[k]);
      figure.csv().cell(angle[i]).cell(rate[i]).cell(energy[i]);
      figure.end_row();
    }
    figure.text(fmt::format("| `{}` | {} | {:.0f} | {:.3f} | {} |\n", label,
                            deck.mechanics.integrator.step * factor,
                            opening(w).value_or(std::numeric_limits<double>::quiet_NaN()),
                            mean_energy(w), costs_text(w, zs, paper)));
    plots[0].series.push_back(series(label, w.times, angle));
    plots[1].series.push_back(series(label, w.times, energy));
    plots[2].series.push_back(series(label, {angle.begin(), angle.end()}, rate));
  }
  figure.text(kCostsRemark);
  figure.text(seeds);
  figure.write(plots);
}

}  // namespace tarn
