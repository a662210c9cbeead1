#pragma once

#include <string>
#include <vector>

#include "tarn/observer.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// What varies by rounding only has no error worth telling, and no correlation.
bool is_constant(const AveragedQuantity& a);

/// "-57.553 +- 0.032", the error with two digits, and a star where it is a lower bound. Powers of
/// ten where that would be mostly zeros.
std::string mean_text(const AveragedQuantity& a);

/// A row a quantity. @param head of the first column
void say_each(const std::vector<AveragedQuantity>& averages, const std::string& head,
              Terminal& terminal);

/// What the stars mean, if there are any.
void say_what_is_short(const std::vector<AveragedQuantity>& averages, Terminal& terminal);

}  // namespace tarn::cli
