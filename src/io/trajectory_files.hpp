#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tarn/io/formats.hpp"

namespace tarn::io {

/// Writes the first structure of a trajectory with atom names, for formats without them.
void write_topology(const std::string& path, const TrajectoryInfo& info,
                    std::span<const double> positions_A);

using FrameBytes = std::string (*)(const TrajectoryInfo& info, const TrajectoryFrame& frame);

/// Location of the atom names: in each frame, or in a topology file beside the trajectory.
enum class AtomNames { in_frames, beside };

/// Decimals in angstrom of the coordinates of a frame in a text format.
using FrameDecimals = int (*)(const TrajectoryFrame& frame);

/// Those of numbers in single precision.
int decimals_of_float(const TrajectoryFrame& frame);

/// The header of files whose frames are all equally long; part of it changes with every frame.
struct FileHeader {
  std::string bytes;
  std::uint64_t offset = 0;  ///< of the part that changes
  std::string (*counts)(std::int64_t frames, const TrajectoryInfo& info) = nullptr;  ///< this part
  std::uint64_t frame_bytes = 0;
};

/// Writes frame by frame to one file per replica, trajectory<extension>, or
/// trajectory-0000<extension> and so on, or to the single file given by `info.path`.
/// @param decimals for formats that have fewer decimals for distant atoms, or null
std::unique_ptr<TrajectoryWriter> write_frames(const TrajectoryInfo& info,
                                               std::string_view extension, FrameBytes frame_bytes,
                                               AtomNames names, FrameDecimals decimals = nullptr,
                                               FileHeader header = {});

/// A step in 32 bits; larger steps become the largest number.
std::int32_t step_of_32_bits(std::int64_t step);

}  // namespace tarn::io
