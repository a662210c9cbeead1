#pragma once

#include <cstdlib>
#include <string_view>

#include "input_file.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/xyz.hpp"

namespace tarn::fuzz {

/// A structure file of any bytes is refused in words, or is good; its frames can then be written
/// and read again to the bit.
inline void structure(std::string_view bytes) {
  const InputFile file(bytes);
  try {
    io::read_structure(file.path());
  } catch (const InputError&) {
  }
  try {
    io::XyzReader reader(file.path());
    while (const auto frame = reader.next()) {
      const InputFile written(
          io::xyz_frame(frame->positions_A, frame->velocities_A_per_akma, "step=0"));
      const auto again = io::XyzReader(written.path()).next();
      if (!again || again->positions_A != frame->positions_A ||
          again->velocities_A_per_akma != frame->velocities_A_per_akma) {
        std::abort();
      }
    }
  } catch (const InputError&) {
  }
}

}  // namespace tarn::fuzz
