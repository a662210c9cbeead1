#include "run_end_text.hpp"

#include <cmath>

#include "observe/warnings.hpp"

namespace tarn::cli {

std::string mean_text(const AveragedQuantity& a) {
  if (is_constant(a)) return fmt::format("{:.6g}", a.mean);
  const int digits = analysis::decimals_for(a.error);
  if (digits > 6 && std::abs(a.mean) < 1e-3) {
    return fmt::format("{:.2e} +- {:.1e}{}", a.mean, a.error, a.converged ? "" : " *");
  }
  return fmt::format("{:.{}f} +- {:.{}f}{}", a.mean, digits, a.error, digits,
                     a.converged ? "" : " *");
}

void print_averages(const std::vector<AveragedQuantity>& averages, const std::string& head,
                    Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{
      {head, "mean", "correlation time / ps", "independent samples"}};
  for (const AveragedQuantity& a : averages) {
    if (is_zero(a)) continue;
    std::vector<std::string> row{a.table + " " + a.quantity, mean_text(a), "-", "-"};
    if (!is_constant(a)) {
      if (a.autocorrelation_ps) row[2] = fmt::format("{:.3g}", *a.autocorrelation_ps);
      row[3] = fmt::format("{:.0f}", a.independent_samples);
    }
    rows.push_back(std::move(row));
  }
  for (const std::string& line : aligned_rows(rows)) terminal.info(line);
}

}  // namespace tarn::cli
