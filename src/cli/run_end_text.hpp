#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tarn/analysis/errors.hpp"
#include "tarn/observer.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Whether a quantity is 0 in every sample, such as the penalty of rigid molecules. The terminal
/// omits it; averages.csv contains it.
inline bool is_zero(const AveragedQuantity& a) { return a.mean == 0.0 && a.error == 0.0; }

/// Whether a quantity belongs to the maximum of the heat capacity.
inline bool is_of_peak(const AveragedQuantity& a) {
  return a.table == "heat_capacity" && !a.bath_K;
}

/// "maximum of the heat capacity: 117.99 +- 0.47 K, 0.2101 +- 0.0042 kcal/mol/K, prominence 0.11 +-
/// 0.01 kcal/mol/K, width 25.1 +- 1.2 K"; empty without one.
inline std::string peak_text(const std::vector<AveragedQuantity>& averages) {
  std::string text;
  for (const AveragedQuantity& a : averages) {
    if (!is_of_peak(a)) continue;
    const int digits = analysis::decimals_for(a.error);
    const std::string_view quantity = a.quantity;
    text += fmt::format("{}{}{:.{}f} +- {:.{}f} {}{}",
                        text.empty() ? "maximum of the heat capacity: " : ", ",
                        quantity.starts_with("peak_prominence") ? "prominence "
                        : quantity.starts_with("peak_width")    ? "width "
                                                                : "",
                        a.mean, digits, a.error, digits,
                        quantity.ends_with("mol_K") ? "kcal/mol/K" : "K", a.converged ? "" : " *");
  }
  return text;
}

/// "pictures: energies.svg, rdf.svg"; empty without any. They are in the output folder. The copies
/// as PNG are not listed.
inline std::string pictures_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    if (path.ends_with(".png")) continue;
    text += (text.empty() ? "pictures: " : ", ") + std::filesystem::path(path).filename().string();
  }
  return text;
}

/// "-57.553 +- 0.032": the error has two digits, and a star marks errors that are lower bounds;
/// sampling_warning() explains it.
/// Scientific notation replaces long rows of zeros.
std::string mean_text(const AveragedQuantity& a);

/// Prints one row per quantity. @param head heading of the first column
void print_averages(const std::vector<AveragedQuantity>& averages, const std::string& head,
                    Terminal& terminal);

}  // namespace tarn::cli
