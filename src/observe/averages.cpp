#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void write_averages(const std::string& path, const std::string& provenance,
                    const std::vector<AveragedQuantity>& averages) {
  std::vector<std::string> header{"table",   "quantity",           "mean",
                                  "error",   "autocorrelation_ps", "independent_samples",
                                  "samples", "converged",          "error_of_error"};
  const bool by_bath = std::any_of(averages.begin(), averages.end(),
                                   [](const AveragedQuantity& a) { return a.bath_K.has_value(); });
  if (by_bath) header.insert(header.begin() + 2, "bath_K");
  const bool by_start = std::any_of(averages.begin(), averages.end(), [](const auto& a) {
    return a.sigmas_between_starts.has_value();
  });
  if (by_start) header.push_back("sigmas_between_starts");
  io::CsvFormat csv(path, header);
  std::string text = csv.head(
      provenance +
      (by_bath
           ? "; after equilibration, replicas of each temperature pooled (bath_K = nan: all baths)"
           : "; after equilibration, all replicas pooled") +
      "; error = standard error by blocking (0: unknown); converged = 0: error and "
      "correlation time may be lower bounds; correlation time nan: result of the whole run, "
      "mean over the replicas" +
      (by_start ? "; sigmas_between_starts = largest deviation of the replicas with one start "
                  "structure from the others, in standard errors"
                : ""));
  for (const AveragedQuantity& a : averages) {
    csv.cell(std::string_view(a.table)).cell(std::string_view(a.quantity));
    if (by_bath) csv.cell_or_nan(a.bath_K.value_or(kNotKnown));
    for (const double value :
         {a.mean, a.error, a.autocorrelation_ps.value_or(kNotKnown), a.independent_samples}) {
      // The input tables are finite, but squares of their values may overflow; that is no failure.
      csv.cell_or_nan(value);
    }
    csv.cell(a.samples).cell(std::int64_t{a.converged});
    csv.cell_or_nan(a.error_of_error.value_or(kNotKnown));
    if (by_start) csv.cell_or_nan(a.sigmas_between_starts.value_or(kNotKnown));
    text += csv.row();
  }
  io::write_file(path, text);
}

}  // namespace tarn
