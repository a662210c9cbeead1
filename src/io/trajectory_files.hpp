#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tarn/io/append_file.hpp"
#include "tarn/io/trajectory.hpp"

namespace tarn::io {

/// Written beside DCD trajectories: the names of their atoms.
inline constexpr std::string_view kTopologyName = "topology.pdb";

/// trajectory<extension>, or trajectory-0000<extension> and so on, by replica; or the one name that
/// the trajectory has.
std::vector<AppendFile> trajectory_files(const TrajectoryInfo& info, std::string_view extension);

/// One text file a replica, which grows by frames.
std::unique_ptr<TrajectoryWriter> write_xyz(const TrajectoryInfo& info);
std::unique_ptr<TrajectoryWriter> write_gro(const TrajectoryInfo& info);
std::unique_ptr<TrajectoryWriter> write_pdb(const TrajectoryInfo& info);

}  // namespace tarn::io
