#pragma once

#include <string>
#include <vector>

#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Assembles molecules O H H from atoms in any order: each hydrogen is assigned to its nearest
/// oxygen, and molecules are in the order of their oxygens. Positions, velocities and `lines` are
/// reordered; `file_order` receives the old order.
/// @param structure the atoms of one frame in the order of the file, without virtual sites
/// @param is_oxygen of each atom
/// @param lines of each atom
/// @param path of the file, for messages
/// @throws InputError unless each oxygen has two hydrogens within 1.3 A
void group_by_distance(const std::vector<bool>& is_oxygen, const std::string& path,
                       Structure& structure, std::vector<int>& lines);

}  // namespace tarn::io
