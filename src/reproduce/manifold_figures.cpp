#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

#include "body_picture.hpp"
#include "figure_page.hpp"
#include "mechanics_figures.hpp"
#include "run/mechanics_case.hpp"
#include "step_cost.hpp"
#include "tarn/core/error.hpp"
#include "tarn/mechanics/dynamics.hpp"
#include "tarn/mechanics/variational_of.hpp"

namespace tarn {
namespace {

using mechanics::Index;
using mechanics::Vector;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

/// Core time of the shortest of twenty runs of a deck, without files.
double seconds_of(const Deck& deck) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto run = make_mechanics_case(deck);
    const double seconds = core_seconds_of([&] {
      for (std::int64_t step = 0; step < deck.mechanics.run.steps; ++step) run->step();
    });
    shortest = std::min(shortest, seconds);
  }
  return shortest;
}

/// When the body is drawn.
constexpr std::array kSnapshots{0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 30.0, 50.0};

bool is_snapshot(std::int64_t step, double h) {
  return std::ranges::any_of(kSnapshots, [&](double t) { return std::llround(t / h) == step; });
}

double degrees_from_field(const Eigen::Matrix3d& rotation) {
  const Eigen::Vector3d dipole = rotation.col(2);
  return std::atan2(dipole.head(2).norm(), dipole[2]) * 180.0 / std::numbers::pi;
}

/// The picture of both motions, and a table of where their dipoles point.
std::string snapshots_text(const Reproduction& r, const ReproduceOptions& options,
                           const DrawnMotion& exact, const DrawnMotion& scheme) {
  const std::string name = r.name + "-snapshots.svg";
  io::write_file(options.out_dir + "/" + name,
                 bodies_svg({exact, scheme}, "Snapshots of the body: field red, dipole black"));
  std::string text = fmt::format("\n## Snapshots\n\n![Snapshots of the body]({})\n\n|", name);
  std::string line = "\n|---|", rows;
  for (const DrawnBody& body : exact.bodies) {
    text += fmt::format(" | {}", body.label);
    line += "---|";
  }
  for (const DrawnMotion* motion : {&exact, &scheme}) {
    rows += fmt::format("\n| dipole from the field (°), {} |", motion->label);
    for (const DrawnBody& body : motion->bodies) {
      rows += fmt::format(" {:.1f} |", degrees_from_field(body.rotation));
    }
  }
  return text + " |" + line + rows + "\n";
}

}  // namespace

void make_magnet_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  FigurePage figure(r, options, {"scheme", "time", "error", "energy_error", "rotation_error"});
  figure.text(fmt::format(
      "| scheme | max error of R to t = 10 | to the end | of the energy | of RᵀR | steps | {} |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      kCostsHeader));
  double first_seconds = 0.0;
  constexpr std::array<std::string_view, 3> labels{"|R - exact|", "E - E(0)", "|RᵀR - 1|"};
  std::vector<io::Plot> plots;
  for (std::string_view label : labels) {
    plots.push_back(plot(plots.empty() ? r.title : "", "time", std::string(label)));
  }
  DrawnMotion drawn_exact{"exact", {}},
      drawn{fmt::format("{}, h = {}", r.schemes.front(), deck.mechanics.integrator.step), {}};
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
      if (&scheme == &r.schemes.front() && is_snapshot(step, m.integrator.step)) {
        const std::string label = fmt::format("t = {:g}", time);
        const Eigen::Map<const Eigen::Matrix3d> transposed(now.data());
        drawn_exact.bodies.push_back({rotation, label});
        drawn.bodies.push_back({transposed.transpose(), label});
      }
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
      // Lies on the first, of the other quadrature.
      plots[k].series.back().dashed = plots[k].series.size() == 2;
    }
    const double seconds = seconds_of(variant);
    if (first_seconds == 0.0) first_seconds = seconds;
    const bool is_cayley = m.integrator.scheme == MechanicsScheme::cayley_variational_euler;
    figure.text(
        fmt::format("| `{}` | {:.3f} | {:.2f} | {:.3f} | {:.2g} | {} |\n", scheme, to_ten, worst[0],
                    worst[1], worst[2],
                    costs_text(run->costs(), seconds / first_seconds,
                               is_cayley ? std::optional(std::array{1.45, 0.03}) : std::nullopt)));
  }
  figure.text(kCostsRemark);
  figure.text(snapshots_text(r, options, drawn_exact, drawn));
  figure.write(plots);
}

namespace {

/// From dark blue to yellow, so that orbits that lie within one another have colours near each
/// other.
std::string colour_between(double share) {
  constexpr std::array<std::array<double, 3>, 5> kColours{
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {244, 160, 20}}};
  const double at = share * (kColours.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kColours.size() - 2);
  std::string colour = "#";
  for (std::size_t k = 0; k < 3; ++k) {
    const double low = kColours[below][k], high = kColours[below + 1][k];
    colour +=
        fmt::format("{:02x}", std::lround(low + (at - static_cast<double>(below)) * (high - low)));
  }
  return colour;
}

}  // namespace

void make_heavy_top_figure(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = load_deck(options.inputs_dir + "/" + r.deck, r.overrides);
  FigurePage figure(r, options, {"orbit", "m13", "m12"});
  const Eigen::Vector3d alpha = vector_of(deck.mechanics.system.alpha);
  const double h = deck.mechanics.integrator.step;
  constexpr int kOrbits = 19, kSteps = 60000;
  io::Plot section = plot(r.title, "m₁₃", "m₁₂");
  section.x_range = {-1.8, 1.8};
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
    points.colour = colour_between(static_cast<double>(orbit) / (kOrbits - 1));
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
  plots[0].y_range = {1e-6, 1e1};
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

void make_variational_figure(const Reproduction& r, const ReproduceOptions& options) {
  using mechanics::Layer;
  struct Method {
    std::string scheme;
    Layer layer;
    double bias;
  };
  const std::array<Method, 4> methods{{{"variational-of:euler", Layer::euler, 0.0},
                                       {"variational-of:euler", Layer::euler, 0.5},
                                       {"variational-of:rk2", Layer::rk2, 0.0},
                                       {"variational-of:rk4", Layer::rk4, 0.0}}};
  const std::string path = options.inputs_dir + "/" + r.deck;
  const mechanics::PlanarDoublePendulum planar{{1.0, 1.0}, {1.0, std::sqrt(2.0)}, 1.0};
  // The state at t = 1, positions and momenta, and what the steps to there cost.
  const auto spherical_at_one = [&](const Method& m, int steps, double& sweeps) {
    const auto run = make_mechanics_case(
        load_deck(path, {"integrator.scheme=" + m.scheme, fmt::format("integrator.bias={}", m.bias),
                         fmt::format("integrator.step={}", 1.0 / steps)}));
    for (int k = 0; k < steps; ++k) run->step();
    sweeps = static_cast<double>(run->costs().iterations) / steps;
    return vector_of(run->row());
  };
  const auto planar_at_one = [&](const Method& m, int steps, double& sweeps) {
    mechanics::VariationalOf<mechanics::PlanarDoublePendulum> run(
        planar, m.layer, 1.0 / steps, m.bias, Eigen::Vector4d(0.0, -1.0, 1.0, -2.0),
        Eigen::Vector4d(0.3, 0.0, 0.5, 0.2));
    for (int k = 0; k < steps; ++k) run.step();
    sweeps = static_cast<double>(run.costs().iterations) / steps;
    Vector state(run.q.size() * 2);
    state << run.q, run.v;
    return state;
  };

  FigurePage figure(r, options, {"system", "method", "step", "error", "sweeps_per_step"});
  std::vector<io::Plot> plots;
  std::vector<std::array<std::string, 2>> orders(methods.size());
  constexpr int kFine = 1280;
  const auto add = [&](std::size_t system, std::string_view name, auto at_one) {
    io::Plot& axes = plots.emplace_back(
        plot(system == 0 ? r.title : "", "step", fmt::format("error, {}", name)));
    axes.log_x = axes.log_y = true;
    axes.x_range = {5e-3, 0.5};
    axes.y_range = {1e-11, 1.0};
    for (const int order : {1, 2, 4}) {
      axes.series.push_back(order_guide(order, 0.2, order == 4 ? 1e-4 : 0.3, 6e-3));
    }
    double sweeps = 0.0;
    const Vector exact = at_one(methods.back(), kFine, sweeps);
    for (std::size_t k = 0; k < methods.size(); ++k) {
      const std::string label = methods[k].scheme + (methods[k].bias > 0.0 ? " with bias 0.5" : "");
      axes.series.emplace_back().label = label;
      axes.series.back().style = io::Series::Style::marked_line;
      double before = 0.0, order = 0.0;
      for (int steps = 5; steps <= 160; steps *= 2) {
        const double error = (at_one(methods[k], steps, sweeps) - exact).norm();
        if (before > 0.0) order = std::log2(before / error);
        before = error;
        axes.series.back().x.push_back(1.0 / steps);
        axes.series.back().y.push_back(error);
        figure.csv().cell(name).cell(std::string_view(label)).cell(1.0 / steps);
        figure.csv().cell(error).cell(sweeps);
        figure.end_row();
      }
      orders[k][system] = fmt::format("{:.2f}", order);
    }
  };
  add(0, "spherical pendulum", spherical_at_one);
  add(1, "double pendulum", planar_at_one);

  const Deck deck = load_deck(path);
  figure.text(fmt::format(
      "| method | order, spherical pendulum | order, planar double pendulum | change of L_z in {0} "
      "steps of {1} | error of the energy, first and second half of them | sweeps a step |\n"
      "|---|---|---|---|---|---|\n",
      deck.mechanics.run.steps, deck.mechanics.integrator.step));
  for (std::size_t k = 0; k < methods.size(); ++k) {
    const auto run =
        make_mechanics_case(load_deck(path, {"integrator.scheme=" + methods[k].scheme,
                                             fmt::format("integrator.bias={}", methods[k].bias)}));
    const auto value = [&](std::string_view name) {
      const std::vector<Quantity> all = run->conserved();
      return std::find_if(all.begin(), all.end(), [&](const Quantity& q) { return q.name == name; })
          ->value;
    };
    const double energy = value("energy"), lz = value("lz");
    std::array<double, 2> energy_error{};
    double lz_error = 0.0;
    const std::int64_t steps = deck.mechanics.run.steps;
    for (std::int64_t step = 0; step < steps; ++step) {
      run->step();
      double& worst = energy_error[2 * step < steps ? 0 : 1];
      worst = std::max(worst, std::abs(value("energy") - energy));
      lz_error = std::max(lz_error, std::abs(value("lz") - lz));
    }
    figure.text(
        fmt::format("| `{}`{} | {} | {} | {:.0e} | {:.3g}, {:.3g} | {:.1f} |\n", methods[k].scheme,
                    methods[k].bias > 0.0 ? " with `bias = 0.5`" : "", orders[k][0], orders[k][1],
                    lz_error, energy_error[0], energy_error[1],
                    static_cast<double>(run->costs().iterations) / static_cast<double>(steps)));
  }
  figure.text(
      "\nOrders are those of the last halving of the step, from 1/80 to 1/160, of positions and "
      "momenta together, against 1280 steps of the last method.\n");
  figure.write(plots);
}

}  // namespace tarn
