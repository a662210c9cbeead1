#pragma once

#include <span>
#include <vector>

namespace tarn::io {

/// The atoms of water molecules in the order O H H, from atoms in any order: each hydrogen belongs
/// to its nearest oxygen, and molecules are in the order of their oxygens.
/// @param atomic_numbers 8 or 1, of each atom
/// @param positions_A of each atom, three numbers
/// @return [molecule][O, H1, H2]: the index of the atom
/// @throws InputError that names atoms that are neither O nor H, hydrogens without an oxygen within
///         1.3 A, and oxygens without two hydrogens; counted from 0
std::vector<int> molecule_order(std::span<const int> atomic_numbers,
                                std::span<const double> positions_A);

}  // namespace tarn::io
