#include "mechanics_errors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tarn {
namespace {

/// A reference has a line if its error is above this part of the errors against it.
constexpr double kFarBelow = 0.02;

/// Colours by Tol, used after the palette of pictures, which would distinguish curves by dashes.
constexpr std::array<const char*, 7> kMoreColours{"#882255", "#999933", "#44AA99", "#AA4499",
                                                  "#661100", "#6699CC", "#777777"};
constexpr std::size_t kPalette = 7;

bool is_drawn(const MechanicsSchemeResult& r) {
  return std::isfinite(r.errors.q_max) && r.errors.q_max > 0.0;
}

bool is_reliable(const MechanicsSchemeResult& r) {
  return r.errors.q_max >= analysis::kMinErrorRatio * r.reference_errors.q_max;
}

/// The range of an axis.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;  // empty
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::array<double, 2> widened(double by) const { return {low / by, high * by}; }
};

/// The x axis of an error plot.
struct Axis {
  double MechanicsSchemeResult::*value;
  const char* label;
};
bool is_drawn(const MechanicsSchemeResult& r, const Axis& axis) {
  return is_drawn(r) && r.*axis.value > 0.0;
}
constexpr Axis kStep{&MechanicsSchemeResult::step, "step"};
constexpr Axis kTime{&MechanicsSchemeResult::us_per_time, "wall time per unit time (µs)"};
constexpr Axis kForces{&MechanicsSchemeResult::forces_per_time, "force evaluations per unit time"};

io::Plot error_plot(const std::vector<MechanicsSchemeResult>& results,
                    const std::vector<std::string>& labels, const std::vector<bool>& dashed,
                    const Axis& axis) {
  io::Plot p;
  p.x_label = axis.label;
  p.y_label = "largest error of q";
  p.log_x = p.log_y = true;
  p.height_pixels = 420;
  Range x, y;
  for (const MechanicsSchemeResult& r : results) {
    if (!is_drawn(r, axis)) continue;
    x.take(r.*axis.value);
    y.take(r.errors.q_max);
  }
  if (y.high == 0.0) return p;
  struct Floor {  // error of a reference, and the points that it limits
    Range x, errors;
    double error = 0.0;
  };
  std::map<std::string, Floor> floors;
  for (const MechanicsSchemeResult& r : results) {
    if (!is_drawn(r, axis) || !std::isfinite(r.reference_errors.q_max)) continue;
    Floor& floor = floors[r.reference];
    floor.x.take(r.*axis.value);
    floor.errors.take(r.errors.q_max);
    floor.error = r.reference_errors.q_max;
  }
  std::erase_if(floors,
                [](const auto& f) { return !(f.second.error > kFarBelow * f.second.errors.low); });
  for (const auto& [reference, floor] : floors) y.take(floor.error);
  p.x_range = x.widened(1.3);
  p.y_range = y.widened(2.0);
  io::Series unreliable;
  for (std::size_t scheme = 0; scheme < labels.size(); ++scheme) {
    io::Series& s = p.series.emplace_back();
    s.label = labels[scheme];
    s.style = io::Series::Style::marked_line;
    s.colour = curve_colour(scheme);
    s.dashed = dashed[scheme];
    std::vector<double> reference_errors;
    for (const MechanicsSchemeResult& r : results) {
      if (r.scheme != scheme || !is_drawn(r, axis)) continue;
      s.x.push_back(r.*axis.value);
      s.y.push_back(r.errors.q_max);
      reference_errors.push_back(r.reference_errors.q_max);
      if (is_reliable(r)) continue;
      unreliable.x.push_back(s.x.back());
      unreliable.y.push_back(s.y.back());
    }
    s.set_error(reference_errors);
  }
  unreliable.style = io::Series::Style::points;
  unreliable.colour = "#bbbbbb";
  if (!unreliable.x.empty()) {
    unreliable.label = "limited by the reference";
    p.series.push_back(unreliable);
  }
  bool named = false;
  for (const auto& [reference, floor] : floors) {
    io::Series& s = p.series.emplace_back();
    if (!std::exchange(named, true)) s.label = "error of the reference";
    s.x = {floor.x.low / 1.2, floor.x.high * 1.2};
    s.y = {floor.error, floor.error};
    s.colour = "#888888";
    s.dashed = true;
  }
  return p;
}

/// The order of q, and that of v if it is much lower.
std::string order_label(const std::string& scheme, const std::vector<SchemeOrder>& orders) {
  constexpr double kFar = 0.5;
  std::string label;
  double order_of_q = std::numeric_limits<double>::quiet_NaN();
  for (const SchemeOrder& o : orders) {
    if (o.label != scheme || o.fit.points == 0) continue;
    if (o.quantity == "q") {
      order_of_q = o.fit.order;
      label = ", order " + order_text(o.fit);
    } else if (o.fit.order < order_of_q - kFar) {
      label += fmt::format(", of v {}", order_text(o.fit));
    }
  }
  return label;
}

}  // namespace

std::string curve_colour(std::size_t curve) {
  const std::size_t place = curve % (kPalette + kMoreColours.size());
  return place < kPalette ? io::palette_colour(place) : kMoreColours[place - kPalette];
}

std::vector<std::string> conserved_names(const std::vector<MechanicsSchemeResult>& results) {
  const auto most = std::max_element(
      results.begin(), results.end(),
      [](const auto& a, const auto& b) { return a.changes.size() < b.changes.size(); });
  std::vector<std::string> names;
  if (most == results.end()) return names;
  for (const auto& [name, change] : most->changes) names.push_back(name);
  return names;
}

std::vector<SchemeOrder> convergence_orders(const std::vector<MechanicsSchemeResult>& results,
                                            const std::vector<std::string>& schemes) {
  std::vector<SchemeOrder> orders;
  for (std::size_t scheme = 0; scheme < schemes.size(); ++scheme) {
    double all_steps = 0.0, forces = 0.0, hessians = 0.0, iterations = 0.0;
    for (const MechanicsSchemeResult& r : results) {
      if (r.scheme != scheme) continue;
      all_steps += static_cast<double>(r.steps);
      forces += static_cast<double>(r.force_evaluations);
      hessians += static_cast<double>(r.hessian_evaluations);
      iterations += static_cast<double>(r.iterations);
    }
    for (const char* quantity : {"q", "v"}) {
      const auto value = *quantity == 'q' ? &TrajectoryErrors::q_max : &TrajectoryErrors::v_max;
      std::vector<double> steps, errors, reference_errors;
      for (const MechanicsSchemeResult& r : results) {
        if (r.scheme != scheme) continue;
        steps.push_back(r.step);
        errors.push_back(r.errors.*value);
        reference_errors.push_back(r.reference_errors.*value);
      }
      orders.push_back({schemes[scheme], quantity,
                        analysis::fit_order(steps, errors, reference_errors), forces / all_steps,
                        hessians / all_steps, iterations / all_steps});
    }
  }
  return orders;
}

std::string order_text(const analysis::OrderFit& fit) {
  if (!std::isfinite(fit.order)) return "-";
  return fmt::format("{:.2f}{}", fit.order, fit.points < 3 ? "?" : "");
}

std::vector<io::Plot> error_plots(const std::vector<MechanicsSchemeResult>& results,
                                  const std::vector<std::string>& schemes,
                                  const std::vector<SchemeOrder>& orders,
                                  const std::vector<bool>& dashed) {
  std::vector<std::string> labels;
  for (const std::string& scheme : schemes) labels.push_back(scheme + order_label(scheme, orders));
  std::vector<io::Plot> plots{error_plot(results, labels, dashed, kStep),
                              error_plot(results, labels, dashed, kTime)};
  // Omit the plot if no scheme evaluates a force.
  const auto has_forces = [](const MechanicsSchemeResult& r) { return r.forces_per_time > 0.0; };
  if (std::any_of(results.begin(), results.end(), has_forces)) {
    plots.push_back(error_plot(results, labels, dashed, kForces));
  }
  return plots;
}

std::vector<CheapestMechanicsScheme> cheapest_schemes(
    const std::vector<MechanicsSchemeResult>& schemes) {
  const auto known = [](const MechanicsSchemeResult& r) {
    return std::max(r.errors.q_max, analysis::kMinErrorRatio * r.reference_errors.q_max);
  };
  std::vector<std::string> references;
  std::map<std::string, Range> ranges;
  for (const MechanicsSchemeResult& r : schemes) {
    if (!is_drawn(r) || !std::isfinite(known(r))) continue;
    if (!ranges.contains(r.reference)) references.push_back(r.reference);
    ranges[r.reference].take(known(r));
  }
  std::vector<CheapestMechanicsScheme> all;
  for (const std::string& reference : references) {
    const Range& range = ranges[reference];
    // From the largest power of ten that some schemes miss to the smallest that any reaches.
    const int last = static_cast<int>(std::ceil(std::log10(range.low)));
    const int first = std::max(last, static_cast<int>(std::ceil(std::log10(range.high))) - 1);
    for (int power = first; power >= last; --power) {
      CheapestMechanicsScheme& best = all.emplace_back();
      best.reference = reference;
      best.within = std::pow(10.0, power);
      for (const MechanicsSchemeResult& r : schemes) {
        if (r.reference != reference || !is_drawn(r) || !(known(r) <= best.within)) continue;
        if (!best.label.empty() && best.us_per_time <= r.us_per_time) continue;
        best.label = r.label;
        best.us_per_time = r.us_per_time;
      }
    }
  }
  return all;
}

}  // namespace tarn
