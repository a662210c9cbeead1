#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "run/mechanics_case.hpp"
#include "tarn/mechanics/dynamics.hpp"
#include "tarn/mechanics/variational_of.hpp"

namespace tarn {
namespace {

using mechanics::Layer;
using mechanics::Vector;

struct Method {
  const char* scheme;
  Layer layer;
  double bias;

  std::string label() const {
    return fmt::format("{}{}", scheme, bias > 0.0 ? " with bias 0.5" : "");
  }
  std::vector<std::string> overrides() const {
    return {fmt::format("integrator.scheme={}", scheme), fmt::format("integrator.bias={}", bias)};
  }
};
constexpr std::array kMethods{Method{"variational-of:euler", Layer::euler, 0.0},
                              Method{"variational-of:euler", Layer::euler, 0.5},
                              Method{"variational-of:rk2", Layer::rk2, 0.0},
                              Method{"variational-of:rk4", Layer::rk4, 0.0}};
constexpr int kFine = 1280;  // steps of the reference

/// Positions and momenta at t = 1, and sweeps per step.
struct AtOne {
  Vector state;
  double sweeps = 0.0;
};

AtOne spherical_at_one(const Reproduction& r, const ReproduceOptions& options, const Method& m,
                       int steps) {
  std::vector<std::string> overrides = m.overrides();
  overrides.push_back(fmt::format("integrator.step={}", 1.0 / steps));
  const auto run = make_mechanics_case(page_deck(r, options, overrides));
  for (int k = 0; k < steps; ++k) run->step();
  const std::vector<double> row = run->row();
  return {Eigen::Map<const Vector>(row.data(), static_cast<mechanics::Index>(row.size())),
          static_cast<double>(run->costs().iterations) / steps};
}

AtOne planar_at_one(const Method& m, int steps) {
  const mechanics::PlanarDoublePendulum planar{{1.0, 1.0}, {1.0, std::sqrt(2.0)}, 1.0};
  mechanics::VariationalOf<mechanics::PlanarDoublePendulum> run(
      planar, m.layer, 1.0 / steps, m.bias, Eigen::Vector4d(0.0, -1.0, 1.0, -2.0),
      Eigen::Vector4d(0.3, 0.0, 0.5, 0.2));
  for (int k = 0; k < steps; ++k) run.step();
  Vector state(run.q.size() * 2);
  state << run.q, run.v;
  return {state, static_cast<double>(run.costs().iterations) / steps};
}

using Orders = std::array<std::string, kMethods.size()>;

/// Errors of all methods and steps on one system, and the orders of the last halving.
/// @param at_one the state at t = 1 by method and number of steps
template <class F>
Orders add_system(ResultPage& page, std::vector<io::Plot>& plots, const std::string& title,
                  std::string_view system, const F& at_one) {
  io::Plot& axes = plots.emplace_back(log_plot(title, "step", fmt::format("error, {}", system)));
  axes.x_range = {5e-3, 0.5};
  axes.y_range = {1e-11, 1.0};
  for (const int order : {1, 2, 4}) {
    axes.series.push_back(order_guide(order, 0.2, order == 4 ? 1e-4 : 0.3, 6e-3));
  }
  const Vector exact = at_one(kMethods.back(), kFine).state;
  Orders orders;
  for (std::size_t k = 0; k < kMethods.size(); ++k) {
    const std::string label = kMethods[k].label();
    io::Series& curve = add_curve(axes, label);
    double before = 0.0, order = 0.0;
    for (int steps = 5; steps <= 160; steps *= 2) {
      const AtOne one = at_one(kMethods[k], steps);
      const double error = (one.state - exact).norm();
      if (before > 0.0) order = std::log2(before / error);
      before = error;
      add_point(curve, 1.0 / steps, error);
      page.csv_row(system, label, 1.0 / steps, error, one.sweeps);
    }
    orders[k] = fmt::format("{:.2f}", order);
  }
  return orders;
}

/// Errors of the conserved quantities in a long run of the spherical pendulum.
struct Conserved {
  double lz = 0.0, sweeps = 0.0;
  std::array<double, 2> energy{};  ///< in the first and in the second half
};

Conserved conserved_by(const Deck& deck) {
  const auto run = make_mechanics_case(deck);
  const auto value = [&](std::string_view name) {
    const std::vector<Quantity> all = run->conserved();
    return std::find_if(all.begin(), all.end(), [&](const Quantity& q) { return q.name == name; })
        ->value;
  };
  const double energy = value("energy"), lz = value("lz");
  const std::int64_t steps = deck.mechanics.run.steps;
  Conserved c;
  for (std::int64_t step = 0; step < steps; ++step) {
    run->step();
    double& worst = c.energy[2 * step < steps ? 0 : 1];
    worst = std::max(worst, std::abs(value("energy") - energy));
    c.lz = std::max(c.lz, std::abs(value("lz") - lz));
  }
  c.sweeps = static_cast<double>(run->costs().iterations) / static_cast<double>(steps);
  return c;
}

void make_variational_page(const Reproduction& r, const ReproduceOptions& options) {
  ResultPage page(r, options, {"system", "method", "step", "error", "sweeps_per_step"});
  std::vector<io::Plot> plots;
  const Orders spherical = add_system(
      page, plots, r.title, "spherical pendulum",
      [&](const Method& m, int steps) { return spherical_at_one(r, options, m, steps); });
  const Orders planar = add_system(page, plots, "", "double pendulum", planar_at_one);
  MarkdownTable table({"method", "order, spherical pendulum", "order, planar double pendulum",
                       "change of L_z", "error of the energy, first and second half",
                       "sweeps per step"});
  const Deck deck = page_deck(r, options);
  for (std::size_t k = 0; k < kMethods.size(); ++k) {
    const Method& m = kMethods[k];
    const Conserved c = conserved_by(page_deck(r, options, m.overrides()));
    table.row({fmt::format("`{}`{}", m.scheme, m.bias > 0.0 ? " with `bias = 0.5`" : ""),
               spherical[k], planar[k], fmt::format("{:.0e}", c.lz),
               fmt::format("{:.3g}, {:.3g}", c.energy[0], c.energy[1]),
               fmt::format("{:.1f}", c.sweeps)});
  }
  page.table(table);
  page.method(fmt::format(
      "Orders are from the last halving of the step, from 1/80 to 1/160, for positions and "
      "momenta together. The reference is the last method with {} steps.",
      kFine));
  page.method(
      fmt::format("L_z, energy and sweeps are from {} steps of {} on the spherical pendulum.",
                  deck.mechanics.run.steps, deck.mechanics.integrator.step));
  page.method(
      "With `bias = 0.5` the same layer is used at ±h/2, where the paper uses its adjoint.");
  page.write(plots);
}

}  // namespace

Reproduction variational_page() {
  return {
      .deck = "spherical-pendulum.toml",
      .summary =
          "Orders and conservation properties of variational methods derived from one-step "
          "methods were measured on two pendula. On both systems the variational methods have the "
          "orders of the underlying methods, as the theory states.\n\n"
          "* Euler's method with `bias = 0.5` has order 2.\n"
          "* L_z is conserved to round-off, and the error of the energy does not grow.",
      .paper =
          "A one-step method of any order gives a variational integrator of the same order, which "
          "is symplectic and conserves the momenta of the system's symmetries. No experiment is "
          "shown.",
      .make = make_variational_page};
}

}  // namespace tarn
