#pragma once

#include <string>
#include <vector>

#include "tarn/io/structure.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::cli {

/// The model of that name or, where it is empty, the one that the file names, or tip3p.
/// @throws InputError that names all models
WaterModel water_model_of(const io::Structure& structure, const std::string& name);

/// Whether a structure can be written under that name, before a long search for it.
/// @throws InputError for an extension that is not known, IoError if nothing can be written there
void check_structure_path(const std::string& path);

/// Whether a file can be written into its folder, before a long computation of it; a pipe or
/// device is written to as it stands. @throws IoError
void check_folder_of(const std::string& path);

/// That no file is written twice, nor over one that is read; a pipe or device may be.
/// @param written where a name is empty nothing is; @throws InputError
void check_apart(const std::vector<std::string>& written, const std::vector<std::string>& read);

/// A minimum as it is written: with its model and energy, and nothing else.
io::Structure minimum_structure(const std::string& model, std::vector<double> positions_A,
                                double energy_kcal_per_mol);

}  // namespace tarn::cli
