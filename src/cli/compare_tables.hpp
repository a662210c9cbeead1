#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tarn/compare.hpp"
#include "tarn/deck.hpp"

/// @file
/// Tables that `tarn compare` prints.

namespace tarn::cli {

/// Prints the tables of water. @param by_step with --steps
void print_water_tables(std::FILE* out, const Deck& deck, const CompareResult& result,
                        bool by_step);

void print_table(std::FILE* out, const std::vector<std::vector<std::string>>& rows);

/// The number, or "-" if it is not finite.
std::string number_text(double value, const char* format);

/// "100 steps of 2 fs", or by scheme if the steps differ: "100 steps of 2 fs (settle), 400 of 0.5
/// fs (verlet)".
template <class Result>
std::string steps_text(const std::vector<Result>& schemes, double time, double Result::*step,
                       const char* unit) {
  std::string text;
  bool differ = false;
  for (const Result& s : schemes) {
    differ = differ || s.*step != schemes.front().*step;
    text +=
        fmt::format("{}{}{} of {}{} ({})", text.empty() ? "" : ", ", std::llround(time / s.*step),
                    text.empty() ? " steps" : "", s.*step, unit, s.label);
  }
  const double common = schemes.front().*step;
  return differ ? text : fmt::format("{} steps of {}{}", std::llround(time / common), common, unit);
}

}  // namespace tarn::cli
