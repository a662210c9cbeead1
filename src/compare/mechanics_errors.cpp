#include "mechanics_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace tarn {
namespace {

bool is_drawn(const MechanicsSchemeResult& r) {
  return std::isfinite(r.errors.q_max) && r.errors.q_max > 0.0;
}

/// The range of an axis.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;  // empty
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

}  // namespace

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
