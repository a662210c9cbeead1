#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pages.hpp"
#include "result_page.hpp"
#include "tarn/mechanics/dynamics.hpp"

namespace tarn {
namespace {

using mechanics::HeavyTop;
using mechanics::Vector;

constexpr int kOrbits = 19, kSteps = 60000;

Vector vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<mechanics::Index>(values.size()));
}

/// From dark blue to yellow, so that neighbouring orbits have similar colours.
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

/// A start on the section v₃ = 0, with H = 1 and m·v = 0: v = (0, 1, 0), m₁₃ = 0.
HeavyTop top_of_orbit(const Deck& deck, int orbit) {
  const Vector alpha = vector_of(deck.mechanics.system.alpha);
  const double angle = 3.14159265358979 * (orbit + 0.5) / kOrbits;
  Eigen::Matrix3d m = Eigen::Matrix3d::Zero();
  m(0, 1) = std::sqrt(2.0 * (alpha[0] + alpha[1])) * std::cos(angle);
  m(1, 2) = -std::sqrt(2.0 * (alpha[1] + alpha[2])) * std::sin(angle);
  m -= m.transpose().eval();
  return HeavyTop(HeavyTop::Scheme::rattle, alpha, vector_of(deck.mechanics.system.chi),
                  deck.mechanics.system.c, m, {0.0, 1.0, 0.0}, deck.mechanics.integrator.step);
}

/// Points of one orbit on the section with v₃ rising and m₂₃ < 0.
/// @param worst is set to the largest error of the energy
io::Series section_of(HeavyTop top, double& worst) {
  const double start = top.energy();
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
    if (at[5] < 0.0) add_point(points, at[2], at[1]);
  }
  return points;
}

void make_heavy_top_page(const Reproduction& r, const ReproduceOptions& options) {
  const Deck deck = page_deck(r, options);
  ResultPage page(r, options, {"orbit", "m13", "m12"});
  io::Plot section = plot(r.title, "m₁₃", "m₁₂");
  section.x_range = {-1.8, 1.8};
  MarkdownTable table({"orbit", "largest error of the energy", "points"});
  for (int orbit = 0; orbit < kOrbits; ++orbit) {
    double worst = 0.0;
    io::Series points = section_of(top_of_orbit(deck, orbit), worst);
    points.colour = colour_between(static_cast<double>(orbit) / (kOrbits - 1));
    for (std::size_t k = 0; k < points.x.size(); ++k) {
      page.csv_row(orbit, points.x[k], points.y[k]);
    }
    table.row(
        {std::to_string(orbit), fmt::format("{:.1e}", worst), std::to_string(points.x.size())});
    section.series.push_back(std::move(points));
  }
  page.table(table);
  page.method(
      "The section is v₃ = 0 with increasing v₃, at H = 1 and m·v = 0. The picture shows the half "
      "with m₂₃ < 0.");
  page.write({section});
}

}  // namespace

Reproduction heavy_top_page() {
  return {
      .deck = "heavy-top.toml",
      .summary =
          "A Poincaré section of the heavy top was computed with RATTLE from 19 orbits. It agrees "
          "with the paper: circles about two fixed points, and between them a chain of islands "
          "surrounded by chaos.\n\n"
          "* The error of the energy stays bounded.",
      .paper = "The paper shows invariant circles over 60 000 steps of 0.05.",
      .make = make_heavy_top_page};
}

}  // namespace tarn
