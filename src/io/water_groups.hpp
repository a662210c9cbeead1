#pragma once

#include <string>
#include <vector>

#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Puts atoms in any order into molecules O H H: each hydrogen goes to its nearest oxygen, the
/// first one of the file first. Positions, velocities and `lines` change their order, `file_order`
/// tells the old one.
/// @param structure with the atoms of one frame as the file has them, no sites among them
/// @param is_oxygen of each of them
/// @param lines of each of them
/// @param path named in problems
/// @throws InputError where an oxygen has not two hydrogens within 1.3 A
void group_by_distance(const std::vector<bool>& is_oxygen, const std::string& path,
                       Structure& structure, std::vector<int>& lines);

}  // namespace tarn::io
