#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tarn/io/structure.hpp"
#include "tarn/io/trajectory.hpp"

/// @file
/// H5MD 1.1, trajectories in HDF5 (de Buyl, Colberg & Höfling 2014, https://www.nongnu.org/h5md).

namespace tarn::io {

/// Reads an H5MD file: the particles groups in the order of their names. The comment of a frame has
/// its group as `replica`. @throws IoError, InputError
///
/// The HDF5 library (1.10.8) may crash or hang on damaged bytes without a checksum: strings of
/// variable length, and anything in files of formats before 1.10. In files of write_h5md() only
/// these strings and the positions have no checksum.
std::unique_ptr<FrameReader> open_h5md(const std::string& path);

/// Writes trajectory.h5 with the groups particles/replica-0000 and so on.
///
/// The file is written in HDF5's mode for a single writer and multiple readers (SWMR) and is
/// readable at any time. A program that is killed loses at most the frames of its last second. Its
/// file is marked as open for writing until the run is resumed or `h5clear -s` removes the mark;
/// meanwhile readers must request SWMR. After a failed write, as on a full disk, the file ends with
/// the last complete frames.
std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo& info);

bool looks_like_h5md(std::string_view beginning);

/// Version of the HDF5 library that is loaded, "1.10.8".
/// @throws InputError if there is none, or one that does not fit this build: it would abort
std::string hdf5_version();

}  // namespace tarn::io
