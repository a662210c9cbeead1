#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "run/mechanics_case.hpp"
#include "tarn/core/error.hpp"
#include "tarn/mechanics/methods.hpp"

namespace tarn {
namespace {

using mechanics::Vector;

constexpr int kFine = 50;  // steps of the reference per step

Vector position_of(const std::vector<double>& row) {
  return Eigen::Map<const Vector>(row.data(), 6);
}

/// Positions after each step of the deck, by RATTLE with kFine times shorter steps.
std::vector<Vector> exact_positions(const Deck& deck) {
  Deck fine = with_scheme(deck, "rattle");
  fine.mechanics.integrator.step /= kFine;
  const auto reference = make_mechanics_case(fine);
  std::vector<Vector> exact;
  for (std::int64_t step = 1; step <= deck.mechanics.run.steps; ++step) {
    for (int k = 0; k < kFine; ++k) reference->step();
    exact.push_back(position_of(reference->row()));
  }
  return exact;
}

/// Errors after each step, until the scheme fails.
struct Errors {
  std::vector<double> times, positions, constraints;
  std::string failure;

  double constraint_max(double until) const {
    double worst = 0.0;
    for (std::size_t k = 0; k < times.size() && times[k] <= until; ++k) {
      worst = std::max(worst, constraints[k]);
    }
    return worst;
  }
  double position_at(double time) const {
    double error = 0.0;
    for (std::size_t k = 0; k < times.size() && times[k] <= time; ++k) error = positions[k];
    return error;
  }
};

Errors errors_of(const Deck& deck, const std::vector<Vector>& exact) {
  const auto run = make_mechanics_case(deck);
  const double h = deck.mechanics.integrator.step;
  Errors e;
  try {
    for (std::size_t k = 0; k < exact.size(); ++k) {
      run->step();
      e.times.push_back(static_cast<double>(k + 1) * h);
      e.positions.push_back((position_of(run->row()) - exact[k]).norm());
      e.constraints.push_back(run->conserved().back().value);
    }
  } catch (const NumericalError& failure) {
    e.failure = failure.what();
  }
  return e;
}

void make_double_spherical_pendulum_page(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = page_deck(r, options);
  const std::vector<Vector> exact = exact_positions(deck);
  ResultPage page(r, options, {"scheme", "time", "error", "constraint_error"});
  std::vector<io::Plot> plots{log_plot(r.title, "time", "error of q"),
                              log_plot("", "time", "largest |g|")};
  plots[0].y_range = {1e-6, 1e1};
  plots[1].y_range = {1e-16, 1e4};
  MarkdownTable table({"scheme", "error of q at t = 5", "at the end", "largest \\|g\\| to t = 5",
                       "to the end", "failure"});
  for (const std::string& scheme : r.schemes) {
    const Errors e = errors_of(with_scheme(deck, scheme), exact);
    for (std::size_t k = 0; k < e.times.size(); ++k) {
      page.csv_row(scheme, e.times[k], e.positions[k], e.constraints[k]);
    }
    table.row({fmt::format("`{}`", scheme), fmt::format("{:.1e}", e.position_at(5.0)),
               fmt::format("{:.1e}", e.positions.back()),
               fmt::format("{:.1e}", e.constraint_max(5.0)),
               fmt::format("{:.1e}", e.constraint_max(e.times.back())), e.failure});
    for (std::size_t p = 0; p < plots.size(); ++p) {
      io::Series& curve = add_curve(plots[p], scheme, io::Series::Style::line);
      curve.x = e.times;
      curve.y = p == 0 ? e.positions : e.constraints;
    }
  }
  page.table(table);
  page.method(
      fmt::format("The reference is RATTLE with a step {} times shorter. The paper does not print "
                  "its start; another one is used here. There is no gravity, as in the paper.",
                  kFine));
  page.write(plots);
}

}  // namespace

Reproduction double_spherical_pendulum_page() {
  return {
      .deck = "double-spherical-pendulum.toml",
      .overrides = {"system.gravity=0"},
      .schemes = {"rattle", "midpoint", "midpoint-hamilton"},
      .summary =
          "Errors of RATTLE and of two midpoint rules were measured on the double spherical "
          "pendulum. The midpoint rule for Hamilton's equations drifts off the constraints, as in "
          "the paper, and fails before t = 6.\n\n"
          "* `midpoint-hamilton` is the midpoint rule for Hamilton's equations of H + g·λ. It is "
          "symplectic, like the paper's.\n"
          "* `midpoint` is the same rule for Newton's equations, in which g'' = 0 also holds off "
          "the constraints. It is not symplectic, but its constraint error is at most 5e-4. Its "
          "position error is smaller than that of RATTLE up to t = 50 and larger later: 0.64 "
          "against 0.13 at t = 100.",
      .paper =
          "With explicit multipliers, the midpoint rule drifts off the constraints. Its error "
          "becomes far larger than that of the constrained method, although both have the same "
          "order and a comparable error in one step.",
      .make = make_double_spherical_pendulum_page};
}

}  // namespace tarn
