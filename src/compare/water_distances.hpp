#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scheme_results.hpp"
#include "tarn/io/plot.hpp"

/// @file
/// Table and picture of the intermolecular distances of several schemes.

namespace tarn {

/// Writes rdf.csv, one row per bin and one group of columns per scheme and pair class.
/// @throws IoError
void write_distances(const std::vector<ComparedRun>& runs, const std::string& provenance,
                     const std::string& folder);

/// Draws rdf.svg and .png: densities of the OO distances, and their differences from the first
/// scheme, which show deviations that the densities hide.
/// @param drawn indices of the runs to draw
io::Drawing draw_distances(const std::vector<ComparedRun>& runs,
                           const std::vector<std::size_t>& drawn, const std::string& folder);

}  // namespace tarn
