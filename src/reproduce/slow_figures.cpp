#include <algorithm>
#include <cmath>
#include <string_view>

#include "figure_page.hpp"
#include "mechanics_figures.hpp"
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
    p.x_range = {1e3, 1e8};
    p.y_range = {1e-13, 1e3};
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
      mechanics::Costs costs;
      const mechanics::CountedSystem system(p.whole(), costs);
      mechanics::DormandPrince method(system, relative, 1e-3 * relative);
      Vector x = kX, v = kV;
      for (int unit = 0; unit < std::lround(kEnd); ++unit) {
        if (unit < projections) {
          const SlowIterate at = slow_point(p, system, omega, x, v);
          x = at.x;
          v = at.v;
        }
        method.advance(x, v, 1.0);
      }
      const double errors[] = {(x - exact.x).norm(), (v - exact.v).norm()};
      figure.csv().cell(omega).cell(relative).cell(costs.forces);
      figure.csv().cell(errors[0]).cell(errors[1]);
      figure.end_row();
      figure.text(fmt::format("| {} | {:.0e} | {} | {:.1e} | {:.1e} |\n", omega, relative,
                              costs.forces, errors[0], errors[1]));
      for (std::size_t k = 0; k < plots.size(); ++k) {
        plots[k].series.back().x.push_back(static_cast<double>(costs.forces));
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
  FigurePage figure(r, options, {"method", "omega", "step", "q_error", "p_error"});
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
  std::vector<io::Plot> plots{plot(r.title, "", "error of q at t = 10"),
                              plot("", "step", "error of p at t = 10")};
  for (io::Plot& p : plots) {
    p.log_x = p.log_y = true;
    p.x_range = {{5e-3, 1.0}};
    p.series = {order_guide(2, 0.5, 3.0, 8e-3), order_guide(4, 0.5, 0.1, 8e-3)};
  }
  figure.text(
      "Errors of q at t = 10 with a step H, from q = (1, 0, 2, 0), p = (0, -1/2, 0, 1/2) "
      "on the constraints, against the slow solution from its projection (tolerance 1e-7 "
      "at ω = 100, 1e-9 at the others):\n\n| method | ω |");
  constexpr int kCoarsest = 20, kFinest = 1280;
  for (int steps = kCoarsest; steps <= kFinest; steps *= 2) {
    figure.text(fmt::format(" H = 1/{} |", steps / 10));
  }
  figure.text("\n|---|---|---|---|---|---|---|---|---|\n");
  const auto add = [&](std::string_view name, double omega, const mechanics::State& slow,
                       auto make) {
    const std::string label = fmt::format("{}, ω = {}", name, omega);
    for (io::Plot& p : plots) {
      p.series.emplace_back().label = label;
      p.series.back().style = io::Series::Style::marked_line;
    }
    figure.text(fmt::format("| `{}` | {} |", name, omega));
    for (int steps = kCoarsest; steps <= kFinest; steps *= 2) {
      const double h = kEnd / steps;
      auto method = make(h);
      const mechanics::State end = mechanics::advanced(method, kX, kV, steps);
      const double errors[] = {(end.x - slow.x).norm(), (end.v - slow.v).norm()};
      figure.csv().cell(name).cell(omega).cell(h).cell(errors[0]).cell(errors[1]);
      figure.end_row();
      figure.text(fmt::format(" {:.1e} |", errors[0]));
      for (std::size_t k = 0; k < plots.size(); ++k) {
        plots[k].series.back().x.push_back(h);
        plots[k].series.back().y.push_back(errors[k]);
      }
    }
    figure.text("\n");
  };
  for (double omega : {1e2, 1e3, 1e4}) {
    const auto p = mechanics::make_double_spring(omega);
    const mechanics::State slow = slow_solution(p, omega);
    add("rattle", omega, slow,
        [&](double h) { return mechanics::Rattle(*p.soft, *p.constraint, h); });
    add("rk4-projected", omega, slow, [&](double h) {
      return mechanics::ProjectedRk4(*p.penalised, *p.constraint, omega, tolerance_at(omega), h);
    });
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
