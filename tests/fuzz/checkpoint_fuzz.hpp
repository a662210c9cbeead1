#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "input_file.hpp"
#include "io/checkpoint.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/binary.hpp"

namespace tarn::fuzz {

/// Reads a checkpoint; one that is not refused has as many numbers as it says.
inline void read_checkpoint_of(std::string_view bytes) {
  const InputFile file(bytes);
  try {
    const State state = io::read_checkpoint(file.path()).state;
    const std::size_t numbers = state.replica_ids.size() * state.coordinates();
    if (state.molecules < 0 || state.positions_A.size() != numbers ||
        state.velocities_A_per_akma.size() != numbers) {
      std::abort();
    }
  } catch (const IoError&) {
  }
}

/// A checkpoint of any bytes is refused in words or is good: the bytes as a file, and as the
/// contents between a head and a checksum that fit, or nothing would get past that.
inline void checkpoint(std::string_view bytes) {
  read_checkpoint_of(bytes);
  std::ostringstream framed;
  framed << "\x89TARN\r\n\n";
  io::put(framed, io::kCheckpointFormat);
  io::put(framed, bytes);  // its length, then the contents
  io::LongChecksum checksum;
  checksum.add(bytes);
  io::put(framed, checksum.value());
  read_checkpoint_of(framed.str());
}

}  // namespace tarn::fuzz
