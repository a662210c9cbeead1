#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "figure_page.hpp"
#include "mechanics_case.hpp"
#include "mechanics_figures.hpp"
#include "tarn/core/error.hpp"
#include "tarn/mechanics/diagnostics.hpp"
#include "tarn/mechanics/dynamics.hpp"
#include "tarn/mechanics/slow_manifold.hpp"

namespace tarn {
namespace {

using mechanics::Index;
using mechanics::Vector;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace

void make_slow_manifold_figure(const Reproduction& r, const ReproduceOptions& options) {
  FigurePage figure(r, options, {"method", "omega", "step", "error"});
  for (double omega : {1e3, 1e4}) {
    const auto p = mechanics::make_double_spring(omega);
    figure.text(fmt::format("ω = {}:\n\n| iteration | g₁ | g₂ | ġ₁ | ġ₂ |\n|---|---|---|---|---|\n",
                            omega));
    const auto iterates = mechanics::project_onto_slow_manifold(*p.penalised, *p.constraint, omega,
                                                                p.position, p.velocity, 1e-9);
    for (std::size_t m = 0; m < iterates.size(); ++m) {
      figure.text(fmt::format("| {} | {:.2e} | {:.2e} | {:.2e} | {:.2e} |\n", m, iterates[m].g[0],
                              iterates[m].g[1], iterates[m].g_rate[0], iterates[m].g_rate[1]));
    }
    figure.text("\n");
  }
  const Eigen::Vector4d x(1.0, 0.0, 2.0, 0.0), v(0.0, -0.5, 0.0, 0.5);
  constexpr double kEnd = 10.0;
  io::Plot errors = plot(r.title, "step", "error of q at t = 10");
  errors.log_x = errors.log_y = true;
  const auto add = [&](std::string_view name, double omega, const Vector& slow, auto make) {
    io::Series s;
    s.label = fmt::format("{}, ω = {}", name, omega);
    for (int steps = 20; steps <= 1280; steps *= 2) {
      const double h = kEnd / steps;
      auto method = make(h);
      const double error = (mechanics::advanced(method, x, v, steps).x - slow).norm();
      s.x.push_back(h);
      s.y.push_back(error);
      figure.csv().cell(name).cell(omega).cell(h).cell(error);
      figure.end_row();
    }
    errors.series.push_back(std::move(s));
  };
  for (double omega : {1e2, 1e3, 1e4}) {
    const auto p = mechanics::make_double_spring(omega);
    const double tolerance = omega < 500.0 ? 1e-7 : 1e-9;
    // The stiff system from its slow point, by short steps.
    const auto start =
        mechanics::project_onto_slow_manifold(*p.penalised, *p.constraint, omega, x, v, tolerance)
            .back();
    const double fine_step = 0.1 / omega;
    mechanics::Rk4 fine(p.whole(), fine_step);
    const Vector slow =
        mechanics::advanced(fine, start.x, start.v, std::lround(kEnd / fine_step)).x;
    add("rattle", omega, slow,
        [&](double h) { return mechanics::Rattle(*p.soft, *p.constraint, h); });
    add("rk4-projected", omega, slow, [&](double h) {
      return mechanics::ProjectedRk4(*p.penalised, *p.constraint, omega, tolerance, h);
    });
  }
  figure.write({errors});
}

void make_magnet_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  FigurePage figure(r, options, {"scheme", "time", "error", "energy_error", "rotation_error"});
  figure.text(
      "| scheme | max error of R to t = 10 | to the end | of the energy | of RᵀR |\n"
      "|---|---|---|---|---|\n");
  constexpr std::array<std::string_view, 3> labels{"|R - exact|", "E - E(0)", "|RᵀR - 1|"};
  std::vector<io::Plot> plots;
  for (std::string_view label : labels) {
    plots.push_back(plot(plots.empty() ? r.title : "", "time", std::string(label)));
  }
  plots[0].y_range = {0.0, 4.5};  // the legend stands above
  for (const std::string& scheme : r.schemes) {
    const Deck variant = with_scheme(deck, scheme);
    const MechanicsDeck& m = variant.mechanics;
    const auto run = make_mechanics_case(variant);
    mechanics::Magnet magnet;
    magnet.b_mu = m.system.b_mu;
    Eigen::Matrix3d rotation = magnet.rotation;
    Eigen::Vector3d velocity = magnet.angular_velocity;
    const double start = run->energies()[0].value;
    std::array<io::Series, 3> series;
    std::array<double, 3> worst{};
    double to_ten = 0.0;
    for (std::int64_t step = 0; step <= m.run.steps; ++step) {
      if (step > 0) {
        run->step();
        mechanics::exact_magnet(magnet, m.integrator.step, m.integrator.step / 50.0, rotation,
                                velocity);
      }
      const double time = static_cast<double>(step) * m.integrator.step;
      const Eigen::Matrix3d rows = rotation.transpose();
      const Vector now = vector_of(run->row()).head(9);
      const double error = (now - Eigen::Map<const Vector>(rows.data(), 9)).norm();
      const std::array<double, 3> values{error, run->energies()[0].value - start,
                                         run->conserved().back().value};
      if (time <= 10.0) to_ten = std::max(to_ten, error);
      figure.csv().cell(std::string_view(scheme)).cell(time);
      for (std::size_t k = 0; k < 3; ++k) {
        series[k].x.push_back(time);
        series[k].y.push_back(values[k]);
        worst[k] = std::max(worst[k], std::abs(values[k]));
        figure.csv().cell(values[k]);
      }
      figure.end_row();
    }
    for (std::size_t k = 0; k < 3; ++k) {
      series[k].label = scheme;
      plots[k].series.push_back(std::move(series[k]));
    }
    figure.text(fmt::format("| `{}` | {:.3f} | {:.2f} | {:.3f} | {:.2g} |\n", scheme, to_ten,
                            worst[0], worst[1], worst[2]));
  }
  figure.write(plots);
}

void make_heavy_top_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  FigurePage figure(r, options, {"orbit", "m13", "m12"});
  const Eigen::Vector3d alpha = vector_of(deck.mechanics.system.alpha);
  const double h = deck.mechanics.integrator.step;
  constexpr int kOrbits = 9, kSteps = 60000;
  io::Plot section = plot(r.title, "m₁₃", "m₁₂");
  figure.text("| orbit | largest error of the energy | points |\n|---|---|---|\n");
  for (int orbit = 0; orbit < kOrbits; ++orbit) {
    // On the section v₃ = 0, on H = 1 and with m·v = 0: v = (0, 1, 0), m₁₃ = 0.
    const double angle = 3.14159265358979 * (orbit + 0.5) / kOrbits;
    Eigen::Matrix3d m = Eigen::Matrix3d::Zero();
    m(0, 1) = std::sqrt(2.0 * (alpha[0] + alpha[1])) * std::cos(angle);
    m(1, 2) = -std::sqrt(2.0 * (alpha[1] + alpha[2])) * std::sin(angle);
    m -= m.transpose().eval();
    mechanics::HeavyTop top(mechanics::HeavyTop::Scheme::rattle, alpha,
                            vector_of(deck.mechanics.system.chi), deck.mechanics.system.c, m,
                            {0.0, 1.0, 0.0}, h);
    const double start = top.energy();
    double worst = 0.0;
    io::Series points;
    points.style = io::Series::Style::points;
    for (int step = 0; step < kSteps; ++step) {
      const Vector q = top.q, v = top.v;
      top.step();
      worst = std::max(worst, std::abs(top.energy() - start));
      if (!(v[2] < 0.0 && top.v[2] >= 0.0)) continue;
      // Linear in the step, between the two sides of the section.
      const double w = -v[2] / (top.v[2] - v[2]);
      const Vector at = q + w * (top.q - q);
      if (at[5] >= 0.0) continue;  // the half with m₂₃ < 0
      points.x.push_back(at[2]);
      points.y.push_back(at[1]);
      figure.csv().cell(std::int64_t{orbit}).cell(at[2]).cell(at[1]);
      figure.end_row();
    }
    figure.text(fmt::format("| {} | {:.1e} | {} |\n", orbit, worst, points.x.size()));
    section.series.push_back(std::move(points));
  }
  figure.write({section});
}

void make_spherical_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  FigurePage figure(r, options, {"scheme", "time", "error", "constraint_error"});
  std::vector<io::Plot> plots{plot(r.title, "time", "error of q"), plot("", "time", "largest |g|")};
  for (io::Plot& p : plots) p.log_x = p.log_y = true;
  plots[0].y_range = {1e-6, 1e2};  // the legend stands above
  plots[1].y_range = {1e-16, 1e4};
  figure.text(
      "| scheme | error of q at t = 5 | at the end | largest \\|g\\| to t = 5 | to the end | "
      "|\n|---|---|---|---|---|---|\n");
  constexpr int kFine = 50;
  Deck fine = with_scheme(deck, "rattle");
  fine.mechanics.integrator.step /= kFine;
  const auto reference = make_mechanics_case(fine);
  std::vector<Vector> exact;
  for (std::int64_t step = 1; step <= deck.mechanics.run.steps; ++step) {
    for (int k = 0; k < kFine; ++k) reference->step();
    exact.push_back(vector_of(reference->row()).head(6));
  }
  const double h = deck.mechanics.integrator.step;
  for (const std::string& scheme : r.schemes) {
    const auto run = make_mechanics_case(with_scheme(deck, scheme));
    for (io::Plot& p : plots) p.series.emplace_back().label = scheme;
    double error = 0.0, worst = 0.0;
    std::string at_five, remark;
    try {
      for (std::size_t k = 0; k < exact.size(); ++k) {
        run->step();
        const double time = static_cast<double>(k + 1) * h;
        error = (vector_of(run->row()).head(6) - exact[k]).norm();
        const double g = run->conserved().back().value;
        worst = std::max(worst, g);
        if (time <= 5.0) at_five = fmt::format("{:.1e} | {{}} | {:.1e}", error, worst);
        figure.csv().cell(std::string_view(scheme)).cell(time).cell(error).cell(g);
        figure.end_row();
        for (std::size_t p = 0; p < plots.size(); ++p) {
          plots[p].series.back().x.push_back(time);
          plots[p].series.back().y.push_back(p == 0 ? error : g);
        }
      }
    } catch (const NumericalError& failure) {
      remark = failure.what();
    }
    figure.text(fmt::format("| `{}` | {} | {:.1e} | {} |\n", scheme,
                            fmt::format(fmt::runtime(at_five), fmt::format("{:.1e}", error)), worst,
                            remark));
  }
  figure.write(plots);
}

}  // namespace tarn
