#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// --frame and --replica of a command that takes one structure.
void add_frame_options(CLI::App& command, io::FrameChoice& choice);

/// --skip, --every, --most and --replicas of a command that takes trajectories.
void add_frame_selection(CLI::App& command, io::FrameSelection& selection);

/// The structure that a command begins with. What was done to it, and that it is one of several
/// which nobody chose among, is told as a warning. @throws what io::read_structure() throws
io::Structure load_structure(const std::string& path, const io::FrameChoice& choice,
                             Terminal& terminal);

/// The model that the name or the file says; that a fourth site was left out for want of either is
/// told as a warning. @throws InputError that names all models
WaterModel choose_water_model(const std::string& path, const io::Structure& structure,
                              const std::string& name, Terminal& terminal);

/// The model of that name or, where it is empty, the one that the file names, or tip3p.
/// @throws InputError that names all models
WaterModel water_model_of(const io::Structure& structure, const std::string& name);

/// Whether a structure can be written under that name, before a long search for it.
/// @throws InputError for an extension that is not known, IoError if nothing can be written there
void check_structure_path(const std::string& path);

/// Whether a file can be written into its folder, before a long computation of it; a pipe or
/// device is written to as it stands. @throws IoError
/// @throws InputError for a file of a run, which could then not be gone on with
void check_folder_of(const std::string& path);

/// A minimum as it is written: with its model and energy, and nothing else.
io::Structure minimum_structure(const std::string& model, std::vector<double> positions_A,
                                double energy_kcal_per_mol);

}  // namespace tarn::cli
