#include "mechanics_tables.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "mechanics_errors.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

constexpr double kNone = TrajectoryErrors::kNone;

std::vector<std::string> table_header(const std::vector<std::string>& conserved, bool by_step) {
  std::vector<std::string> header{"scheme",
                                  "steps",
                                  "steps_per_s",
                                  "linear_solves_per_step",
                                  "iterations_per_step",
                                  "force_evaluations",
                                  "hessian_evaluations",
                                  "third_derivative_evaluations"};
  for (const std::string& name : conserved) header.push_back(name + "_change_max");
  header.insert(header.end(), {"step", "us_per_time", "forces_per_time"});
  if (by_step) {
    header.insert(header.end(), {"error_q_max", "error_q_end", "error_v_max", "error_v_end",
                                 "reference_error_q_max", "reference_error_q_end",
                                 "reference_error_v_max", "reference_error_v_end", "reference"});
  }
  header.push_back("failed_at");
  return header;
}

}  // namespace

void write_mechanics_table(const CompareResult& result, bool by_step, const std::string& system) {
  const std::string path = result.out_dir + "/compare.csv";
  const std::vector<std::string> conserved = conserved_names(result.mechanics);
  io::CsvFormat csv(path, table_header(conserved, by_step));
  std::string text = csv.head(mechanics_provenance(
      system, by_step ? "largest changes since the start; Euclidean norms of the errors in columns "
                        "q and v of trajectory.csv, largest and final"
                      : "largest changes since the start"));
  for (const MechanicsSchemeResult& s : result.mechanics) {
    csv.cell(std::string_view(s.label)).cell(s.steps).cell(s.steps_per_second);
    csv.cell(s.linear_solves_per_step).cell(s.iterations_per_step);
    csv.cell(s.force_evaluations).cell(s.hessian_evaluations);
    csv.cell(s.third_derivative_evaluations);
    for (std::size_t k = 0; k < conserved.size(); ++k) {
      csv.cell_or_nan(k < s.changes.size() ? s.changes[k].second : kNone);
    }
    csv.cell(s.step).cell_or_nan(s.us_per_time).cell_or_nan(s.forces_per_time);
    if (by_step) {
      for (const TrajectoryErrors* e : {&s.errors, &s.reference_errors}) {
        for (const double error : {e->q_max, e->q_end, e->v_max, e->v_end}) {
          csv.cell_or_nan(error);
        }
      }
      csv.cell(std::string_view(s.reference.empty() ? "none" : s.reference));
    }
    csv.cell_or_nan(s.failure.empty() ? kNone : static_cast<double>(s.steps) * s.step);
    text += csv.row();
  }
  io::write_file(path, text);
}

void write_mechanics_orders(const CompareResult& result, const std::string& system) {
  const std::string path = result.out_dir + "/orders.csv";
  io::CsvFormat csv(
      path, {"scheme", "quantity", "order", "spread", "points", "smallest_step", "largest_step",
             "forces_per_step", "hessians_per_step", "iterations_per_step"});
  std::string text =
      csv.head(mechanics_provenance(system, "convergence order of the largest error"));
  for (const SchemeOrder& o : result.orders) {
    csv.cell(std::string_view(o.label)).cell(std::string_view(o.quantity));
    csv.cell_or_nan(o.fit.order).cell_or_nan(o.fit.spread);
    csv.cell(static_cast<std::int64_t>(o.fit.points));
    csv.cell_or_nan(o.fit.smallest_step).cell_or_nan(o.fit.largest_step);
    csv.cell_or_nan(o.forces_per_step).cell_or_nan(o.hessians_per_step);
    csv.cell_or_nan(o.iterations_per_step);
    text += csv.row();
  }
  io::write_file(path, text);
}

std::string mechanics_provenance(const std::string& system, const char* content) {
  return fmt::format("tarn {}; {}; {}", kVersion, system, content);
}

}  // namespace tarn
