#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "step_time.hpp"
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

/// As in AST: looser at ω = 100, where errors of the projection are of the order of ω⁻⁴.
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

/// The state at kEnd, and the cost of getting there.
struct Ended {
  mechanics::State state;
  mechanics::Costs costs;
};

/// The stiff equations to kEnd, by the pair of Dormand & Prince.
/// @param relative tolerance
/// @param projections their number: of the start, and then at t = 1, 2, ...
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

/// Core time of the shortest of three or more runs [s].
/// @param share of these runs that is made; at least one run
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

constexpr std::array kOmegas{1e2, 1e3, 1e4};
/// 1e-3, 1e-4 and so on to 1e-8.
std::vector<double> tolerances() {
  std::vector<double> all;
  for (double relative = 1e-3; relative > 0.5e-8; relative *= 0.1) all.push_back(relative);
  return all;
}

// --- AST Figs. 3 to 5 ----------------------------------------------------------------------------

/// Errors of the stiff equations at kEnd against evaluations of the forces.
/// @param projections their number: of the start, and then at t = 1, 2, ...
void make_stiff_page(const Reproduction& r, const ReproduceOptions& options, int projections) {
  ResultPage page(r, options, {"omega", "relative_tolerance", "evaluations", "q_error", "p_error"});
  std::vector<io::Plot> plots{log_plot(r.title, "", "error of q at t = 10"),
                              log_plot("", "evaluations of the forces", "error of p at t = 10")};
  // The same axes on all three pages.
  for (io::Plot& p : plots) {
    p.x_range = {5e3, 5e6};
    p.y_range = {1e-13, 1e1};
  }
  MarkdownTable table({"ω", "relative tolerance", "evaluations of the forces",
                       "error of q at t = 10", "error of p at t = 10"});
  for (const double omega : kOmegas) {
    const Experiment p = mechanics::make_double_spring(omega);
    const mechanics::State exact = slow_solution(p, omega);
    for (io::Plot& axes : plots) add_curve(axes, fmt::format("ω = {}", omega));
    for (const double relative : tolerances()) {
      const Ended end = stiff_run(p, omega, relative, projections);
      const std::int64_t forces = end.costs.forces;
      const double errors[] = {(end.state.x - exact.x).norm(), (end.state.v - exact.v).norm()};
      page.csv_row(omega, relative, forces, errors[0], errors[1]);
      table.row({fmt::format("{}", omega), fmt::format("{:.0e}", relative), std::to_string(forces),
                 fmt::format("{:.1e}", errors[0]), fmt::format("{:.1e}", errors[1])});
      for (std::size_t k = 0; k < plots.size(); ++k) {
        add_point(plots[k].series.back(), static_cast<double>(forces), errors[k]);
      }
    }
  }
  page.table(table);
  page.method(
      "The integrator is the pair of Dormand & Prince of orders 5 and 4, in place of the paper's "
      "ode113. The absolute tolerance is a thousandth of the relative one, as in the paper.");
  page.method(
      "The start on the constraints is q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2). Masses are 1, so p "
      "is the velocity.");
  page.method(
      "Errors are relative to the slow solution, which starts from the projected point and takes "
      "Runge-Kutta steps of 0.1/ω. The tolerance of projections is 1e-7 at ω = 100 and 1e-9 "
      "otherwise.");
  page.write(plots);
}

void make_stiff_from_constraints_page(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_page(r, options, 0);
}
void make_stiff_from_slow_point_page(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_page(r, options, 1);
}
void make_stiff_projected_back_page(const Reproduction& r, const ReproduceOptions& options) {
  make_stiff_page(r, options, 10);
}

// --- AST Table 1, Figs. 2 and 6 ------------------------------------------------------------------

// Numbers of steps; the tables have the first kColumns of them, the picture has all.
constexpr int kCoarsest = 20, kFinest = 1280, kFinestOfRattle = 40960;
constexpr std::size_t kColumns = 7;

/// Errors and costs of one method at one ω, by step or by tolerance.
struct Row {
  std::string method;
  double omega;
  std::vector<double> steps;  ///< empty for the stiff equations
  std::vector<double> q_errors, p_errors, seconds;
  std::vector<std::int64_t> forces;

  bool is_stiff() const { return steps.empty(); }
  void add_errors(const mechanics::State& end, const mechanics::State& slow) {
    q_errors.push_back((end.x - slow.x).norm());
    p_errors.push_back((end.v - slow.v).norm());
  }
};

/// A method with steps of kEnd / kCoarsest and shorter. @param make the method by step
template <class Make>
Row stepped_row(std::string_view name, double omega, int finest, const mechanics::State& slow,
                double share, const Make& make) {
  Row row{std::string(name), omega, {}, {}, {}, {}, {}};
  for (int steps = kCoarsest; steps <= finest; steps *= 2) {
    const double h = kEnd / steps;
    auto method = make(h);
    row.add_errors(mechanics::advanced(method, kX, kV, steps), slow);
    row.steps.push_back(h);
    row.forces.push_back(method.costs().forces);
    row.seconds.push_back(shortest_seconds(share, [&] {
      auto again = make(h);
      mechanics::advanced(again, kX, kV, steps);
    }));
  }
  return row;
}

Row stiff_row(std::string_view name, double omega, const Experiment& p,
              const mechanics::State& slow, double share, int projections) {
  Row row{std::string(name), omega, {}, {}, {}, {}, {}};
  for (const double relative : tolerances()) {
    Ended end;
    row.seconds.push_back(
        shortest_seconds(share, [&] { end = stiff_run(p, omega, relative, projections); }));
    row.add_errors(end.state, slow);
    row.forces.push_back(end.costs.forces);
  }
  return row;
}

std::vector<Row> all_rows(double share) {
  std::vector<Row> rows;
  for (const double omega : kOmegas) {
    const Experiment p = mechanics::make_double_spring(omega);
    const mechanics::State slow = slow_solution(p, omega);
    rows.push_back(stepped_row("rattle", omega, kFinestOfRattle, slow, share, [&](double h) {
      return mechanics::Rattle(*p.soft, *p.constraint, h);
    }));
    rows.push_back(stepped_row("rk4-projected", omega, kFinest, slow, share, [&](double h) {
      return mechanics::ProjectedRk4(*p.penalised, *p.constraint, omega, tolerance_at(omega), h);
    }));
    if (omega != kOmegas.back()) continue;
    rows.push_back(stiff_row("stiff from a slow point", omega, p, slow, share, 1));
    rows.push_back(stiff_row("stiff projected back", omega, p, slow, share, 10));
  }
  return rows;
}

/// AST Table 1: iterates of the projection.
std::string projection_text(double omega) {
  const Experiment p = mechanics::make_double_spring(omega);
  const auto iterates = mechanics::project_onto_slow_manifold(*p.penalised, *p.constraint, omega,
                                                              p.position, p.velocity, 1e-9);
  MarkdownTable table({"iteration", "g₁", "g₂", "ġ₁", "ġ₂"});
  for (std::size_t m = 0; m < iterates.size(); ++m) {
    const SlowIterate& i = iterates[m];
    table.row({std::to_string(m), fmt::format("{:.2e}", i.g[0]), fmt::format("{:.2e}", i.g[1]),
               fmt::format("{:.2e}", i.g_rate[0]), fmt::format("{:.2e}", i.g_rate[1])});
  }
  return fmt::format(
      "Projection of q = (1, 1/4, 2, 0), p = (0, -1/2, 0, 1/2) to 1e-9, ω = {}:\n\n{}\n", omega,
      table.text());
}

/// A row per method and ω, a column per step. @param cell_of the text of a row and a column
MarkdownTable step_table(const std::vector<Row>& rows,
                         const std::function<std::string(const Row&, std::size_t)>& cell_of) {
  MarkdownTable::Cells header{"method", "ω"};
  for (std::size_t k = 0; k < kColumns; ++k) {
    header.push_back(fmt::format("H = 1/{:g}", 1.0 / rows.front().steps[k]));
  }
  MarkdownTable table(header);
  for (const Row& row : rows) {
    if (row.is_stiff()) continue;
    MarkdownTable::Cells cells{fmt::format("`{}`", row.method), fmt::format("{}", row.omega)};
    for (std::size_t k = 0; k < kColumns; ++k) cells.push_back(cell_of(row, k));
    table.row(cells);
  }
  return table;
}

MarkdownTable stiff_table(const std::vector<Row>& rows, double unit_seconds) {
  MarkdownTable table({"method", "evaluations of the force", "relative core time", "error of q"});
  for (const Row& row : rows) {
    if (!row.is_stiff()) continue;
    for (std::size_t k = 0; k < row.seconds.size(); ++k) {
      table.row({row.method, std::to_string(row.forces[k]),
                 fmt::format("{:.0f}", row.seconds[k] / unit_seconds),
                 fmt::format("{:.1e}", row.q_errors[k])});
    }
  }
  return table;
}

/// Errors against the step, against the cost, and at the last ω beside the stiff equations.
std::vector<io::Plot> pictures(const Reproduction& r, const std::vector<Row>& rows,
                               double unit_seconds) {
  const std::string cost = "core time relative to RATTLE with H = 1/8";
  std::vector<io::Plot> plots{
      log_plot(r.title, "step H", "error of q"), log_plot("", cost, "error of q"),
      log_plot("", cost, "error of p"),
      log_plot("", cost, fmt::format("error of q, ω = {}", kOmegas.back()))};
  for (io::Plot& p : plots) {
    p.x_range = {0.1, 2e3};
    p.y_range = {1e-8, 10.0};
  }
  plots[0].x_range = {2e-4, 0.6};
  plots[0].series = {order_guide(2, 0.5, 3.0, 3e-4), order_guide(4, 0.5, 0.1, 8e-3)};
  plots[3].x_range = {0.1, 1e4};
  plots[3].y_range = {1e-13, 10.0};
  for (const Row& row : rows) {
    const auto place =
        static_cast<std::size_t>(std::ranges::find(kOmegas, row.omega) - kOmegas.begin());
    io::Series curve;
    curve.label = row.is_stiff() ? row.method : fmt::format("{}, ω = {}", row.method, row.omega);
    curve.style = io::Series::Style::marked_line;
    curve.colour = io::palette_colour(row.is_stiff() ? plots[3].series.size() + 1 : place);
    curve.dashed = row.method == "rattle";
    std::vector<double> costs;
    for (const double seconds : row.seconds) costs.push_back(seconds / unit_seconds);
    const auto add = [&](io::Plot& p, const std::vector<double>& x, const std::vector<double>& y) {
      p.series.push_back(curve);
      p.series.back().x = x;
      p.series.back().y = y;
    };
    if (!row.is_stiff()) {
      add(plots[0], row.steps, row.q_errors);
      add(plots[1], costs, row.q_errors);
      add(plots[2], costs, row.p_errors);
    }
    if (row.omega == kOmegas.back()) add(plots[3], costs, row.q_errors);
  }
  return plots;
}

void make_slow_manifold_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options,
                  {"method", "omega", "step", "q_error", "p_error", "forces", "time_ratio"});
  for (const double omega : {1e3, 1e4}) page.text(projection_text(omega));
  const std::vector<Row> rows = all_rows(options.share_of_time);
  const Row& first = *std::ranges::find(rows, kOmegas.back(), &Row::omega);
  // The time of RATTLE with H = 1/8, from its longest run, whose time is the most accurate.
  const double unit_seconds = first.seconds.back() * first.steps.back() / first.steps[2];
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.seconds.size(); ++k) {
      page.csv_row(row.method, row.omega, OrNan{row.is_stiff() ? std::nan("") : row.steps[k]},
                   row.q_errors[k], row.p_errors[k], row.forces[k], row.seconds[k] / unit_seconds);
    }
  }
  page.text("Errors of q at t = 10 with a step H:\n\n");
  page.table(step_table(
      rows, [](const Row& row, std::size_t k) { return fmt::format("{:.1e}", row.q_errors[k]); }));
  page.text("Costs: evaluations of the force, and relative core time:\n\n");
  page.table(step_table(rows, [&](const Row& row, std::size_t k) {
    const double ratio = row.seconds[k] / unit_seconds;
    return fmt::format("{}, {:.{}f}", row.forces[k], ratio, ratio < 10.0 ? 1 : 0);
  }));
  page.text(
      "The pair of Dormand & Prince at ω = 10 000, as in [Fig. 4](stiff-from-slow-point.md) and "
      "[Fig. 5](stiff-projected-back.md):\n\n");
  page.table(stiff_table(rows, unit_seconds));
  page.method(
      "Runs start from q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2) on the constraints. Errors are "
      "relative to the slow solution, which starts from the projection of this point.");
  page.method("The tolerance of projections is 1e-7 at ω = 100 and 1e-9 otherwise.");
  page.method(
      "Relative core time: divided by that of the 80 steps of RATTLE with H = 1/8 at ω = 10 000 in "
      "the same process.");
  page.write(pictures(r, rows, unit_seconds));
}

}  // namespace

Reproduction slow_manifold_page() {
  return {
      .deck = "double-spring.toml",
      .summary =
          "Projections onto the slow manifold, and errors and costs of the projected Runge-Kutta "
          "method and RATTLE, were measured for two stiff springs. They agree with the paper up "
          "to two misprints: RATTLE is the cheaper method until its error saturates, and the "
          "projected method beyond.\n\n"
          "* **RATTLE.** Halving H reduces the errors to a quarter, as for a method of order 2. "
          "They saturate at 8e-3 for ω = 100. Half of that is the error of the projection: the "
          "distance between the slow and the constrained solution at t = 10 is\n\n"
          "  | after | distance |\n"
          "  |---|---|\n"
          "  | three iterations, as the tolerance requires | 8.2e-3 |\n"
          "  | two iterations | 6.9e-3 |\n"
          "  | extrapolation by ω⁻², which holds from ω = 300 on | 4.4e-3 |\n\n"
          "* **Projected method.** It has order 4 at ω = 10 000. At ω = 1000 the errors of the "
          "projections appear from H = 1/16 on (1/32 in the paper) and decrease with H, "
          "independent of the tolerance.\n"
          "* **Costs.** A projected step takes 430 to 750 force evaluations and 60 to 70 times as "
          "long as a step of RATTLE, at ω = 1000 and at 10 000. At ω = 100 a step is cheaper, "
          "because the tolerance is looser. Halving H increases the cost by a factor of 1.8.\n"
          "* **Choice at ω = 10 000.** RATTLE is about ten times cheaper at an error of 4e-4 in "
          "q, and cheaper until it saturates at 5e-7. Beyond that the projected method is "
          "cheaper.\n"
          "* **Stiff equations, projected back.** They take ten times as long as the projected "
          "method at an error of 2e-5 and twice as long at 2e-7. At slightly higher cost they "
          "reach 1e-11.\n"
          "* **Misprints in Table 1.** The rate of g₁ in row 1 at ω = 1000, and a sign in row 2 "
          "at ω = 10 000.",
      .paper =
          "Projections take five iterations to 1e-9. The projected Runge-Kutta method takes steps "
          "independent of ω at the same cost; RATTLE saturates at the distance between the slow "
          "and the constrained solution. At ω = 10 000 RATTLE is best at low accuracy and the "
          "projected method at high accuracy.",
      .make = make_slow_manifold_page};
}

Reproduction stiff_from_constraints_page() {
  return {
      .deck = "double-spring.toml",
      .summary =
          "Errors in solving the stiff equations were measured against the cost, starting from a "
          "point on the constraints. Errors and costs agree with the paper: the errors saturate, "
          "and the cost grows about tenfold with every tenfold ω.\n\n"
          "* The number of evaluations grows with ω by these factors:\n\n"
          "  | relative tolerance | ω = 100 to 1000 | ω = 1000 to 10 000 |\n"
          "  |---|---|---|\n"
          "  | 1e-3 | 12.7 | 11.2 |\n"
          "  | 1e-8 | 6.7 | 6.3 |\n\n"
          "* The errors saturate at the distance between the two solutions, which is of order ω⁻² "
          "in q and 1/ω in p:\n\n"
          "  | ω | error of q | error of p |\n"
          "  |---|---|---|\n"
          "  | 1000 | 9.6e-6 | 5e-4 |\n"
          "  | 10 000 | 1.0e-7 | 1.9e-4 |\n\n"
          "* At ω = 100 the error of q saturates at 2.8e-3, although ω⁻² would give 1e-3. The "
          "start of the slow solution has a projection error there, which grows to 4e-3 at t = 10.",
      .paper =
          "The paper uses a code of high order with step-size control, at tolerances of 1e-3 to "
          "1e-8. The steps are short: ten times as many at ω = 1000 as at 100, and more than that "
          "at 10 000. At loose tolerances the cost hardly depends on the tolerance. At tight ones "
          "the code follows the ripples about the slow manifold, and the errors saturate:\n\n"
          "| ω | error of q | error of p |\n"
          "|---|---|---|\n"
          "| 1000 | 1e-5 | 1e-3 |\n"
          "| 10 000 | 1e-7 | 1e-4 |",
      .make = make_stiff_from_constraints_page};
}

Reproduction stiff_from_slow_point_page() {
  return {
      .deck = "double-spring.toml",
      .summary =
          "Errors in solving the stiff equations were measured against the cost, starting from a "
          "slow point. As in the paper, the projection of the start removes the saturation of the "
          "errors.\n\n"
          "* The remaining limit is the accuracy of the slow solution that serves as reference: "
          "3e-8 in q at ω = 100 and 3e-11 at 1000.\n"
          "* At ω = 1000 and 10 000, tolerances of 1e-7 give errors of 1e-10 or less in q.\n"
          "* The cost is that of [Fig. 3](stiff-from-constraints.md). Errors of p are about 1000 "
          "times those of q.",
      .paper =
          "The projection of the start removes the saturation. The cost is that of Fig. 3, and the "
          "errors of p are far larger than those of q.",
      .make = make_stiff_from_slow_point_page};
}

Reproduction stiff_projected_back_page() {
  return {
      .deck = "double-spring.toml",
      .summary =
          "Errors in solving the stiff equations were measured against the cost, with projections "
          "onto the slow manifold at t = 0, 1, ..., 9. At loose tolerances projections reduce "
          "both errors and cost, as in the paper; at tight ones their own errors dominate.\n\n"
          "* Down to tolerances of 1e-5 at ω = 1000 and 1e-6 at 10 000, errors of q are 4 to 300 "
          "times smaller than [from a slow point alone](stiff-from-slow-point.md). The cost, "
          "including projections, is lower by a seventh to a quarter.\n"
          "* At tighter tolerances the errors are those of the projections, and the cost does not "
          "decrease:\n\n"
          "  | error | projected back | from a slow point alone |\n"
          "  |---|---|---|\n"
          "  | q, ω = 1000 | 4e-8 | 4e-10 to 3e-11 |\n"
          "  | p, ω = 1000 | 4.7e-7 | 4.5e-7 to 5e-8 |\n"
          "  | q, ω = 10 000 | 4e-12 and 5e-12 | 8e-13 |\n\n"
          "* At ω = 100 the error of q is 5.3e-4 at every tolerance.",
      .paper =
          "With projections at t = 1, 2, ..., 9 as well, errors are smaller at less cost than in "
          "Fig. 4 for ω = 1000 and 10 000. At ω = 100 the error is that of the projections at "
          "every tolerance; at 1000 it appears from about 5e-8 in q and 5e-7 in p on.",
      .make = make_stiff_projected_back_page};
}

}  // namespace tarn
