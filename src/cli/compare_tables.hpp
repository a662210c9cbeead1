#pragma once

#include <cstdio>

#include "tarn/compare.hpp"
#include "tarn/deck.hpp"

namespace tarn::cli {

/// Prints the tables of `tarn compare`. @param by_step with --steps
void print_compare_tables(std::FILE* out, const Deck& deck, const CompareResult& result,
                          bool by_step);

}  // namespace tarn::cli
