#pragma once

#include <string>
#include <vector>

#include "scheme_results.hpp"

/// @file
/// Table of the intermolecular distances of several schemes.

namespace tarn {

/// Writes rdf.csv, one row per bin and one group of columns per scheme and pair class.
/// @throws IoError
void write_distances(const std::vector<ComparedRun>& runs, const std::string& provenance,
                     const std::string& folder);

}  // namespace tarn
