#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Checks of the atoms of a frame. All commands apply them through check_molecules(); a problem
/// names the file, the line or frame, and the molecules.

namespace tarn::io {

/// Hydrogens more than 3 A from their oxygen, as in a molecule that is broken over a periodic
/// boundary.
/// @param number of the frame in its file, counted from 0
std::vector<Problem> broken_molecule_problems(const Structure& frame, const FrameReader& reader,
                                              std::int64_t number);

/// Atoms closer than 0.1 A and oxygens closer than 0.5 A in the same bead, as of a program that
/// left atoms at the origin; or a number of molecules that is not a multiple of that of the beads.
/// @param number of the frame in its file, counted from 0
std::vector<Problem> overlap_problems(const Structure& frame, const FrameReader& reader,
                                      std::int64_t number);

/// @throws InputError for unit_problem()
void check_unit(std::span<const double> positions_A, const std::string& path);

}  // namespace tarn::io
