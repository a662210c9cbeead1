#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/append_file.hpp"
#include "tarn/io/trajectory.hpp"

namespace tarn::io {

/// Writes a structure that names the atoms of a trajectory whose frames do not: its first one.
/// @param model empty: not known
/// @param sites_per_molecule 3, or 4 with M behind the atoms of each
void write_topology(const std::string& path, const std::string& model,
                    std::span<const double> positions_A, int sites_per_molecule);
/// The same of a run: topology.pdb in its folder.
void write_topology(const TrajectoryInfo& info, const TrajectoryFrame& frame);

/// trajectory<extension>, or trajectory-0000<extension> and so on, by replica; or the one name that
/// the trajectory has.
std::vector<AppendFile> trajectory_files(const TrajectoryInfo& info, std::string_view extension);

using FrameBytes = std::string (*)(const TrajectoryInfo& info, const TrajectoryFrame& frame);

/// Where the names of atoms are: in each frame, or in a topology beside the trajectory.
enum class AtomNames { in_frames, beside };

/// Decimals of the coordinates of a frame in text, in A.
using FrameDecimals = int (*)(const TrajectoryFrame& frame);

/// One file a replica, which grows by frames.
/// @param decimals of formats that have fewer of them for atoms that are far away; or null
std::unique_ptr<TrajectoryWriter> write_frames(const TrajectoryInfo& info,
                                               std::string_view extension, FrameBytes frame_bytes,
                                               AtomNames names, FrameDecimals decimals = nullptr);

std::unique_ptr<TrajectoryWriter> write_xyz(const TrajectoryInfo& info);
std::unique_ptr<TrajectoryWriter> write_gro(const TrajectoryInfo& info);
std::unique_ptr<TrajectoryWriter> write_pdb(const TrajectoryInfo& info);

/// As formats have it that count steps in 32 bits: those beyond are as the last one.
std::int32_t step_of_32_bits(std::int64_t step);

}  // namespace tarn::io
