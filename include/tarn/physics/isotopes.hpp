#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/physics/water_model.hpp"

/// @file
/// Isotopes of water: names of molecules, and masses of the atomic mass evaluation of 2020.

namespace tarn {

/// Masses of O, H1 and H2 [Da] of a name, such as HDO or D2O18; nothing for other names. H1 is the
/// lighter hydrogen, and O without a number is oxygen 16.
std::optional<std::array<double, 3>> isotope_masses_Da(std::string_view name);
/// All names, for messages.
inline constexpr std::string_view kIsotopeNames =
    "H2O, HDO, D2O, HTO, DTO or T2O, with 17 or 18 appended for heavy oxygen";

/// The problem of a list of isotopes for a cluster; nothing if there is none.
/// @param list names, one for each molecule, or "name=number" for the first molecules
std::optional<std::string> isotopes_problem(const std::vector<std::string>& list,
                                            std::int64_t molecules);
/// Masses of all molecules. Those that the list leaves out have the masses of the model.
/// @throws InputError for isotopes_problem()
std::vector<std::array<double, 3>> isotope_masses_Da(const std::vector<std::string>& list,
                                                     const WaterModel& model, int molecules);

/// Names of all molecules from their masses, "HDO H2O H2O"; empty without isotopes.
/// @param atom_masses_Da see System
std::string isotope_names(const std::vector<std::array<double, 3>>& atom_masses_Da);

/// H, D or T.
constexpr char hydrogen_symbol(double mass_Da) {
  return mass_Da < 1.5 ? 'H' : mass_Da < 2.5 ? 'D' : 'T';
}

}  // namespace tarn
