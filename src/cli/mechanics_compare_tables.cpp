#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compare/mechanics_errors.hpp"
#include "compare_tables.hpp"

namespace tarn::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string stopped_text(const MechanicsSchemeResult& s) {
  return s.failure.empty() ? "-" : fmt::format("step {}", s.steps);
}

Rows error_rows(const CompareResult& result) {
  Rows rows{{"scheme", "µs per unit time", "forces per unit time", "max error of q",
             "final error of q", "max error of v", "error of reference", "max change of energy",
             "stopped after"}};
  for (const MechanicsSchemeResult& s : result.mechanics) {
    double energy = TrajectoryErrors::kNone;
    for (const auto& [name, change] : s.changes) {
      if (name == "energy") energy = change;
    }
    const bool is_reliable = s.errors.q_max >= analysis::kMinErrorRatio * s.reference_errors.q_max;
    const char* mark = std::isfinite(s.errors.q_max) && !is_reliable ? "?" : "";
    rows.push_back(
        {s.label, number_text(s.us_per_time, "{:.4g}"), number_text(s.forces_per_time, "{:.4g}"),
         number_text(s.errors.q_max, "{:.2e}") + mark, number_text(s.errors.q_end, "{:.2e}"),
         number_text(s.errors.v_max, "{:.2e}"), number_text(s.reference_errors.q_max, "{:.0e}"),
         number_text(energy, "{:.1e}"), stopped_text(s)});
  }
  return rows;
}

/// One row per scheme.
Rows order_rows(const CompareResult& result) {
  Rows rows{{"scheme", "order of q", "order of v", "steps", "forces per step", "Hessians per step",
             "reference"}};
  std::size_t scheme = 0;
  for (const SchemeOrder& q : result.orders) {
    if (q.quantity != "q") continue;
    const auto v = std::ranges::find_if(result.orders, [&](const SchemeOrder& o) {
      return o.label == q.label && o.quantity == "v";
    });
    rows.push_back({q.label, order_text(q.fit), v == result.orders.end() ? "-" : order_text(v->fit),
                    q.fit.points > 0
                        ? fmt::format("{:g} to {:g}", q.fit.smallest_step, q.fit.largest_step)
                        : "-",
                    number_text(q.forces_per_step, "{:.2f}"),
                    number_text(q.hessians_per_step, "{:.2f}"), "-"});
    for (const MechanicsSchemeResult& s : result.mechanics) {
      if (s.scheme == scheme && !s.reference.empty()) rows.back().back() = s.reference;
    }
    ++scheme;
  }
  return rows;
}

void print_cheapest(std::FILE* out, const CompareResult& result) {
  std::string reference;
  for (const CheapestMechanicsScheme& best : cheapest_schemes(result.mechanics)) {
    if (std::exchange(reference, best.reference) != best.reference) {
      fmt::print(out, "\nFastest scheme for an error of q against {}\n", best.reference);
    }
    fmt::print(out, "{:.0e}  {}, {:.4g} µs per unit time\n", best.within, best.label,
               best.us_per_time);
  }
}

Rows scheme_rows(const CompareResult& result) {
  std::vector<std::string> header{
      "scheme", "steps/s", "forces/step", "Hessians/step", "linear solves/step", "iterations/step"};
  for (const std::string& name : conserved_names(result.mechanics)) {
    header.push_back("max change of " + name);
  }
  header.push_back("stopped after");
  Rows rows{header};
  for (const MechanicsSchemeResult& s : result.mechanics) {
    const auto per_step = [&](std::int64_t count) {
      if (!s.failure.empty()) return std::string("-");
      return number_text(static_cast<double>(count) / static_cast<double>(s.steps), "{:.2f}");
    };
    rows.push_back({s.label, fmt::format("{:.0f}", s.steps_per_second),
                    per_step(s.force_evaluations), per_step(s.hessian_evaluations),
                    fmt::format("{:.1f}", s.linear_solves_per_step),
                    fmt::format("{:.1f}", s.iterations_per_step)});
    for (const auto& [name, change] : s.changes) {
      rows.back().push_back(number_text(change, "{:.1e}"));
    }
    rows.back().resize(header.size() - 1, "-");
    rows.back().push_back(stopped_text(s));
  }
  return rows;
}

}  // namespace

void print_mechanics_tables(std::FILE* out, const Deck& deck, const CompareResult& result,
                            bool by_step) {
  if (by_step) {
    fmt::print(out, "{}, {}, time {:g}\n\n", deck.name, deck.system.kind, result.time);
    print_table(out, error_rows(result));
    fmt::print(out, "\n");
    print_table(out, order_rows(result));
    print_cheapest(out, result);
    fmt::print(out, "\nTables: {0}/compare.csv, {0}/orders.csv\n", result.out_dir);
    return;
  }
  const double time =
      static_cast<double>(deck.mechanics.run.steps) * deck.mechanics.integrator.step;
  fmt::print(out, "{}, {}, {}\n\n", deck.name, deck.system.kind,
             steps_text(result.mechanics, time, &MechanicsSchemeResult::step, ""));
  print_table(out, scheme_rows(result));
  fmt::print(out, "\nTables: {0}/compare.csv, {0}/drift.csv\n", result.out_dir);
}

}  // namespace tarn::cli
