#pragma once

#include <cstdlib>
#include <string_view>

#include "input_file.hpp"
#include "io/xyz.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/io/structure.hpp"

namespace tarn::fuzz {

/// Reads what a reader makes of the bytes; its frames can be written and read again to the bit.
inline void read_frames(io::FrameReader& reader) {
  while (const auto frame = reader.next()) {
    const InputFile written(
        io::xyz_frame(frame->positions_A, frame->velocities_A_per_akma, "step=0"));
    const auto again = io::XyzReader(written.path()).next();
    if (!again || again->positions_A != frame->positions_A ||
        again->velocities_A_per_akma != frame->velocities_A_per_akma) {
      std::abort();
    }
  }
}

/// A structure or trajectory of any bytes is refused in words, or is good, in the format that it
/// looks like and in every other. H5MD has a target of its own: hardly any bytes are an HDF5 file.
inline void structure(std::string_view bytes) {
  if (bytes.starts_with("\x89HDF")) return;
  const InputFile file(bytes);
  try {
    io::read_structure(file.path());
  } catch (const Error&) {
  }
  for (const io::Format& format : io::formats()) {
    if (format.id == io::FileFormat::h5md) continue;
    try {
      read_frames(*format.open(file.path()));
    } catch (const Error&) {
    }
  }
}

}  // namespace tarn::fuzz
