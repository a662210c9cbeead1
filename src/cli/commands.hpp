#pragma once

#include "command.hpp"

namespace tarn::cli {

/// Adds one subcommand. Its callback throws the library's errors; `exit_code` carries a non-zero
/// exit code that is not caused by an error, such as that of an interrupt.
using AddCommand = void(Command& app, int& exit_code);
AddCommand add_run, add_check, add_energy, add_cluster, add_minimise, add_modes, add_compare,
    add_serve, add_rdf, add_analyse, add_convert, add_plot, add_draw, add_models, add_doctor;

inline constexpr const char* kDeckHelp = "deck (TOML file)";
inline constexpr const char* kStructureHelp =
    "structure or trajectory, such as extended XYZ, GRO or PDB";
inline constexpr const char* kStructureOutHelp = "output file: .xyz, .gro or .pdb";
inline constexpr const char* kThreadsHelp = "number of CPU threads; default: 0, all of them";
inline constexpr const char* kDeviceHelp = "auto, cpu, cuda or cuda:<number>";
inline constexpr const char* kDevicesHelp =
    "auto, cpu, cuda, cuda:<number>, cuda:<number>,<number> or cuda:all";
inline constexpr const char* kQuietHelp = "print no progress";
/// Without the default.
inline constexpr const char* kModelHelp =
    "water model ('tarn models' lists them), or a file with a [model] section";
/// Default of --model for commands that read a structure or trajectory.
inline constexpr const char* kModelFromFileHelp =
    "; default: the model named in the file, or tip3p";

/// From now on, shared libraries that end or crash the program are reported: exit() and _exit()
/// in a function of a library become an exception, and a signal is reported before the program
/// ends. Not caught: other programs that the library starts, exec(), SIGKILL, and overflows of the
/// stacks of the library's own threads.
void guard_libraries();

}  // namespace tarn::cli
