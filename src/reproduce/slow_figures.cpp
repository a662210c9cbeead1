#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "figure_page.hpp"
#include "mechanics_figures.hpp"
#include "step_cost.hpp"
#include "tarn/mechanics/costs.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/dormand_prince.hpp"
#include "tarn/mechanics/slow_manifold.hpp"
#include "tarn/mechanics/systems.hpp"

namespace tarn {
namespace {

using mechanics::Experiment;
using mechanics::Index;
using mechanics::MechanicalSystem;
using mechanics::SlowIterate;
using mechanics::Vector;

const Eigen::Vector4d kX(1.0, 0.0, 2.0, 0.0), kV(0.0, -0.5, 0.0, 0.5);  // AST (31), (32)
constexpr double kEnd = 10.0;

/// AST's: looser at ω = 100, where the projection's own errors are of the order of ω⁻⁴.
double tolerance_at(double omega) { return omega < 500.0 ? 1e-7 : 1e-9; }

SlowIterate slow_point(const Experiment& p, const MechanicalSystem& system, double omega,
                       const Vector& x, const Vector& v) {
  return mechanics::project_onto_slow_manifold(system, *p.constraint, omega, x, v,
                                               tolerance_at(omega))
      .back();
}

/// The stiff system from its slow point to kEnd, by short steps.
mechanics::State slow_solution(const Experiment& p, double omega) {
  const SlowIterate start = slow_point(p, p.whole(), omega, kX, kV);
  const double step = 0.1 / omega;
  mechanics::Rk4 fine(p.whole(), step);
  return mechanics::advanced(fine, start.x, start.v, std::lround(kEnd / step));
}

/// Where a method is at kEnd, and what brought it there.
struct Ended {
  mechanics::State state;
  mechanics::Costs costs;
};

/// The stiff equations to kEnd, by the pair of Dormand & Prince.
/// @param relative tolerance
/// @param projections of the start, and then at t = 1, 2, ... as long as there are any
Ended stiff_run(const Experiment& p, double omega, double relative, int projections) {
  Ended end{{kX, kV, {}, {}}, {}};
  const mechanics::CountedSystem system(p.whole(), end.costs);
  mechanics::DormandPrince method(system, relative, 1e-3 * relative);
  for (int unit = 0; unit < std::lround(kEnd); ++unit) {
    if (unit < projections) {
      const SlowIterate at = slow_point(p, system, omega, end.state.x, end.state.v);
      end.state.x = at.x;
      end.state.v = at.v;
    }
    method.advance(end.state.x, end.state.v, 1.0);
  }
  return end;
}

/// Of three runs or more the shortest, core time [s].
/// @param share of these runs, at least one
template <class Run>
double shortest_seconds(double share, Run run) {
  constexpr double kEnough = 0.05;
  double shortest = std::numeric_limits<double>::infinity(), all = 0.0;
  for (int repeat = 0; repeat < 1 || repeat < 3.0 * share || all < share * kEnough; ++repeat) {
    const double taken = core_seconds_of(run);
    shortest = std::min(shortest, taken);
    all += taken;
  }
  return shortest;
}

/// AST Figs. 3 to 5: errors of the stiff equations at kEnd against evaluations of the forces.
/// @param projections of the start, and then at t = 1, 2, ... as long as there are any
void make_stiff_figure(const Reproduction& r, const ReproduceOptions& options, int projections) {
  FigurePage figure(r, options,
                    {"omega", "relative_tolerance", "evaluations", "q_error", "p_error"});
  std::vector<io::Plot> plots{plot(r.title, "", "error of q at t = 10"),
                              plot("", "evaluations of the forces", "error of p at t = 10")};
  // The axes of all three.
  for (io::Plot& p : plots) {
    p.log_x = p.log_y = true;
    p.x_range = {5e3, 5e6};
    p.y_range = {1e-13, 1e1};
  }
  figure.text(
      "| ω | relative tolerance | evaluations of the forces | error of q at t = 10 | of p |\n"
      "|---|---|---|---|---|\n");
  for (double omega : {1e2, 1e3, 1e4}) {
    const Experiment p = mechanics::make_double_spring(omega);
    const mechanics::State exact = slow_solution(p, omega);
    for (io::Plot& axes : plots) {
      axes.series.emplace_back().label = fmt::format("ω = {}", omega);
      axes.series.back().style = io::Series::Style::marked_line;
    }
    for (double relative = 1e-3; relative > 0.5e-8; relative *= 0.1) {
      const Ended end = stiff_run(p, omega, relative, projections);
      const std::int64_t forces = end.costs.forces;
      const double errors[] = {(end.state.x - exact.x).norm(), (end.state.v - exact.v).norm()};
      figure.csv().cell(omega).cell(relative).cell(forces);
      figure.csv().cell(errors[0]).cell(errors[1]);
      figure.end_row();
      figure.text(fmt::format("| {} | {:.0e} | {} | {:.1e} | {:.1e} |\n", omega, relative, forces,
                              errors[0], errors[1]));
      for (std::size_t k = 0; k < plots.size(); ++k) {
        plots[k].series.back().x.push_back(static_cast<double>(forces));
        plots[k].series.back().y.push_back(errors[k]);
      }
    }
  }
  figure.text(
      "\nBy the pair of Dormand & Prince in place of ode113, with an absolute tolerance a "
      "thousandth of the relative one, as in the paper. The masses are 1, so that p is the "
      "velocity. The start on the constraints is q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2). Errors "
      "are against the slow solution from its projection, by Runge-Kutta steps of 0.1/ω; the "
      "tolerance of projections is 1e-7 at ω = 100 and 1e-9 at the others.\n");
  figure.write(plots);
}

}  // namespace

void make_slow_manifold_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage figure(r, options,
                    {"method", "omega", "step", "q_error", "p_error", "forces", "time_ratio"});
  for (double omega : {1e3, 1e4}) {
    const auto p = mechanics::make_double_spring(omega);
    figure.text(
        fmt::format("Projection of q = (1, 1/4, 2, 0), p = (0, -1/2, 0, 1/2) to 1e-9, ω = "
                    "{}:\n\n| iteration | g₁ | g₂ | ġ₁ | ġ₂ |\n|---|---|---|---|---|\n",
                    omega));
    const auto iterates = mechanics::project_onto_slow_manifold(*p.penalised, *p.constraint, omega,
                                                                p.position, p.velocity, 1e-9);
    for (std::size_t m = 0; m < iterates.size(); ++m) {
      figure.text(fmt::format("| {} | {:.2e} | {:.2e} | {:.2e} | {:.2e} |\n", m, iterates[m].g[0],
                              iterates[m].g[1], iterates[m].g_rate[0], iterates[m].g_rate[1]));
    }
    figure.text("\n");
  }
  constexpr std::array kOmegas{1e2, 1e3, 1e4};
  const std::string cost = "core time, RATTLE with H = 1/8 is 1";
  // Against the step, against the cost, and at the last ω beside what Figs. 4 and 5 cost.
  std::vector<io::Plot> plots{plot(r.title, "step H", "error of q"), plot("", cost, "error of q"),
                              plot("", cost, "error of p"),
                              plot("", cost, fmt::format("error of q, ω = {}", kOmegas.back()))};
  for (io::Plot& p : plots) {
    p.log_x = p.log_y = true;
    p.x_range = {0.1, 2e3};
    p.y_range = {1e-8, 10.0};
  }
  plots[0].x_range = {2e-4, 0.6};
  plots[0].series = {order_guide(2, 0.5, 3.0, 3e-4), order_guide(4, 0.5, 0.1, 8e-3)};
  plots[3].x_range = {0.1, 1e4};
  plots[3].y_range = {1e-13, 10.0};
  struct Row {
    std::string method;
    double omega;
    std::vector<double> steps, q_errors, p_errors, seconds;
    std::vector<std::int64_t> forces;
  };
  // Steps; the tables have the first seven columns, the picture all.
  constexpr int kCoarsest = 20, kFinest = 1280, kFinestOfRattle = 40960;
  constexpr std::size_t kColumns = 7;
  std::vector<Row> rows;
  const auto add = [&](std::string_view name, double omega, int finest,
                       const mechanics::State& slow, auto make) {
    Row& row = rows.emplace_back();
    row.method = name;
    row.omega = omega;
    for (int steps = kCoarsest; steps <= finest; steps *= 2) {
      const double h = kEnd / steps;
      auto method = make(h);
      const mechanics::State end = mechanics::advanced(method, kX, kV, steps);
      row.steps.push_back(h);
      row.q_errors.push_back((end.x - slow.x).norm());
      row.p_errors.push_back((end.v - slow.v).norm());
      row.forces.push_back(method.costs().forces);
      row.seconds.push_back(shortest_seconds(options.share_of_time, [&] {
        auto again = make(h);
        mechanics::advanced(again, kX, kV, steps);
      }));
    }
  };
  const auto add_stiff = [&](std::string_view name, const Experiment& p, double omega,
                             const mechanics::State& slow, int projections) {
    Row& row = rows.emplace_back();
    row.method = name;
    row.omega = omega;
    for (double relative = 1e-3; relative > 0.5e-8; relative *= 0.1) {
      Ended end;
      row.seconds.push_back(shortest_seconds(
          options.share_of_time, [&] { end = stiff_run(p, omega, relative, projections); }));
      row.q_errors.push_back((end.state.x - slow.x).norm());
      row.p_errors.push_back((end.state.v - slow.v).norm());
      row.forces.push_back(end.costs.forces);
    }
  };
  for (const double omega : kOmegas) {
    const Experiment p = mechanics::make_double_spring(omega);
    const mechanics::State slow = slow_solution(p, omega);
    add("rattle", omega, kFinestOfRattle, slow,
        [&](double h) { return mechanics::Rattle(*p.soft, *p.constraint, h); });
    add("rk4-projected", omega, kFinest, slow, [&](double h) {
      return mechanics::ProjectedRk4(*p.penalised, *p.constraint, omega, tolerance_at(omega), h);
    });
    if (omega != kOmegas.back()) continue;
    add_stiff("stiff from a slow point", p, omega, slow, 1);
    add_stiff("stiff projected back", p, omega, slow, 10);
  }

  const auto& first = *std::ranges::find(rows, kOmegas.back(), &Row::omega);
  // Told by the longest run, which is timed best.
  const double one = first.seconds.back() * first.steps.back() / first.steps[2];
  const auto text_of = [&](const char* what, auto number) {
    figure.text(fmt::format("\n{}:\n\n| method | ω |", what));
    for (std::size_t k = 0; k < kColumns; ++k) {
      figure.text(fmt::format(" H = 1/{:g} |", 1.0 / first.steps[k]));
    }
    figure.text("\n|---|---|---|---|---|---|---|---|---|\n");
    for (const Row& row : rows) {
      if (row.steps.empty()) continue;
      figure.text(fmt::format("| `{}` | {} |", row.method, row.omega));
      for (std::size_t k = 0; k < kColumns; ++k) figure.text(number(row, k));
      figure.text("\n");
    }
  };
  text_of(
      "Errors of q at t = 10 with a step H, from q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2) on the "
      "constraints, against the slow solution from its projection (tolerance 1e-7 at ω = 100, "
      "1e-9 at the others)",
      [](const Row& row, std::size_t k) { return fmt::format(" {:.1e} |", row.q_errors[k]); });
  text_of(
      "What they cost: evaluations of the force, and core time as a ratio to the 80 steps of "
      "RATTLE "
      "with H = 1/8 at ω = 10 000 in the same process",
      [&](const Row& row, std::size_t k) {
        const double ratio = row.seconds[k] / one;
        return fmt::format(" {}, {:.{}f} |", row.forces[k], ratio, ratio < 10.0 ? 1 : 0);
      });
  figure.text(
      "\nAt ω = 10 000 by the pair of Dormand & Prince as in [Fig. 4](stiff-from-slow-point.md) "
      "and [Fig. 5](stiff-projected-back.md):\n\n| method | evaluations of the force | core "
      "time, the same ratio | error of q |\n|---|---|---|---|\n");
  for (const Row& row : rows) {
    const auto w =
        static_cast<std::size_t>(std::ranges::find(kOmegas, row.omega) - kOmegas.begin());
    const bool stiff = row.steps.empty();
    for (std::size_t k = 0; k < row.seconds.size(); ++k) {
      figure.csv().cell(std::string_view(row.method)).cell(row.omega);
      figure.csv().cell_or_nan(stiff ? std::nan("") : row.steps[k]);
      figure.csv().cell(row.q_errors[k]).cell(row.p_errors[k]).cell(row.forces[k]);
      figure.csv().cell(row.seconds[k] / one);
      figure.end_row();
      if (stiff) {
        figure.text(fmt::format("| {} | {} | {:.0f} | {:.1e} |\n", row.method, row.forces[k],
                                row.seconds[k] / one, row.q_errors[k]));
      }
    }
    io::Series curve;
    curve.label = stiff ? row.method : fmt::format("{}, ω = {}", row.method, row.omega);
    curve.style = io::Series::Style::marked_line;
    curve.colour = io::palette_colour(stiff ? plots[3].series.size() + 1 : w);
    curve.dashed = row.method == "rattle";
    const auto put = [&](io::Plot& p, const std::vector<double>& x, const std::vector<double>& y) {
      p.series.push_back(curve);
      p.series.back().x = x;
      p.series.back().y = y;
    };
    std::vector<double> costs;
    for (const double seconds : row.seconds) costs.push_back(seconds / one);
    if (!stiff) {
      put(plots[0], row.steps, row.q_errors);
      put(plots[1], costs, row.q_errors);
      put(plots[2], costs, row.p_errors);
    }
    if (row.omega == kOmegas.back()) put(plots[3], costs, row.q_errors);
  }
  figure.write(plots);
}

void make_stiff_from_constraints_figure(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_figure(r, options, 0);
}
void make_stiff_from_slow_point_figure(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_figure(r, options, 1);
}
void make_stiff_projected_back_figure(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_figure(r, options, 10);
}

}  // namespace tarn
