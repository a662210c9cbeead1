#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"

/// @file
/// H5MD 1.1, trajectories in HDF5 (de Buyl, Colberg & Höfling 2014, https://www.nongnu.org/h5md).

namespace tarn::io {

/// Reads an H5MD file, one particles group after another, in the order of their names. The comment
/// of a frame has the group as `replica`. @throws IoError, InputError
///
/// The HDF5 library itself (1.10.8) may crash or never return on damaged bytes that have no
/// checksum: strings of variable length, and anything in files of the formats before 1.10. In the
/// files of write_h5md() all else has checksums, but for the positions.
std::unique_ptr<FrameReader> open_h5md(const std::string& path);

/// trajectory.h5 with the group particles/replica-0000 and so on.
///
/// The file is written in HDF5's mode for a single writer and multiple readers (SWMR): whatever
/// reaches the disk is a file that can be read, so that a program that is killed leaves all frames
/// but those of its last second. Such a file is marked as open for writing; readers ask for SWMR,
/// or `h5clear -s` takes the mark off, or the run goes on. After a write that failed, as on a full
/// disk, the file ends with the last frames that were written whole.
std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo& info);

bool looks_like_h5md(std::string_view beginning);

}  // namespace tarn::io
