#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// --frame and --replica of a command that takes one structure.
void add_frame_options(Command& command, io::FrameChoice& choice);

/// --skip, --every, --most and --replicas of a command that takes trajectories.
void add_frame_selection(Command& command, io::FrameSelection& selection);

/// --beads of a command that takes trajectories of ring polymers.
void add_beads_option(Command& command, std::optional<int>& beads);

/// Reads the input structure of a command. Warns about changes made on reading, and if the file has
/// several frames and none was chosen. @throws what io::read_structure() throws
io::Structure load_structure(const std::string& path, const io::FrameChoice& choice,
                             Terminal& terminal);

/// As select_water_model(). Warns if neither the name nor the file selects the model, and about
/// fourth sites that were therefore ignored. @throws InputError that lists all models
WaterModel choose_water_model(const std::string& path, const io::Structure& structure,
                              const std::string& name, Terminal& terminal);

/// The model of that name; if the name is empty, the model named in the file, or tip3p.
/// @throws InputError that lists all models
WaterModel select_water_model(const io::Structure& structure, const std::string& name);

/// Puts the molecules of an input structure onto the geometry of a rigid model, with a warning if
/// they move; those of a flexible model keep theirs. @throws InputError if they are not water
/// molecules of this model
void fit_to_model(const WaterModel& model, std::vector<double>& positions_A,
                  const std::string& path, Terminal& terminal);
/// @param flexible whether the molecules are, as with a flexible model or a potential
/// @throws InputError if the molecules are not those of this model
void check_bond_lengths(const WaterModel& model, bool flexible,
                        const std::vector<double>& positions_A, const std::string& path);
void check_bond_lengths(const WaterModel& model, const std::vector<double>& positions_A,
                        const std::string& path);

/// Checks, before a long search, that a structure can be written to this path.
/// @throws InputError for an unknown extension, IoError if the path is not writable
void check_structure_path(const std::string& path);

/// Checks, before a long computation, that a file can be written to this path. Pipes and devices
/// are always accepted. @throws IoError
/// @throws InputError for a file of a run, which could not be resumed without it
void check_writable(const std::string& path);

/// The structure to write for a minimum, with its model and energies.
io::Structure minimum_structure(const WaterModel& model, std::vector<double> positions_A);
/// The same for a minimum of a potential.
io::Structure minimum_structure(const WaterModel& model, std::vector<double> positions_A,
                                const Potential& potential, double energy_kcal_per_mol);

}  // namespace tarn::cli
