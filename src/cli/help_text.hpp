#pragma once

/// @file
/// Help texts of options that several commands have.

namespace tarn::cli {

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

}  // namespace tarn::cli
