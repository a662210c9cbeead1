#include "minimise_report.hpp"

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::cli {

MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code) {
  ReportTimer is_due;
  options.should_continue = [] { return !interrupted(); };
  options.on_iteration = [&](const MinimiseResult& r) {
    if (!is_due()) return;
    terminal.info(fmt::format("iteration {}: {:.6f} kcal/mol, largest force {:.1e} kcal/mol/A",
                              r.iterations, r.energy_kcal_per_mol, r.max_gradient_kcal_per_mol_A));
  };
  const MinimiseResult result = minimise(options);
  if (interrupted()) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted before the minimum was reached");
  } else if (!result.converged) {
    exit_code = static_cast<int>(ExitCode::numerical);
    terminal.warning(
        fmt::format("not converged: a force or torque is still larger than {:.0e} kcal/mol/A{}",
                    options.tolerance_kcal_per_mol_A, advice));
  }
  if (result.saddle_points > 0) {
    terminal.note(fmt::format(
        "reached {}, where the forces vanish too, and continued from there to a minimum",
        result.saddle_points == 1 ? std::string("a saddle point")
                                  : fmt::format("{} saddle points", result.saddle_points)));
  }
  return result;
}

std::string result_text(const MinimiseResult& r) {
  return fmt::format(
      "{:.9f} kcal/mol before, {:.9f} kcal/mol after {} iterations; largest remaining force or "
      "torque {:.1e} kcal/mol/A",
      r.start_energy_kcal_per_mol, r.energy_kcal_per_mol, r.iterations,
      r.max_gradient_kcal_per_mol_A);
}

}  // namespace tarn::cli
