#pragma once

#include <string>
#include <vector>

#include "run_end_text.hpp"
#include "tarn/observer.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// "-57.553 +- 0.032": the error has two digits, and a star marks errors that are lower bounds;
/// sampling_warning() explains it.
/// Scientific notation replaces long rows of zeros.
std::string mean_text(const AveragedQuantity& a);

/// Prints one row per quantity. @param head heading of the first column
void print_averages(const std::vector<AveragedQuantity>& averages, const std::string& head,
                    Terminal& terminal);

}  // namespace tarn::cli
