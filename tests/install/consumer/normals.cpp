#include <bit>
#include <cstdint>

#include <tarn/core/philox.hpp>

/// A checksum of the bits of many normal numbers, computed by a formula of the headers.
std::uint64_t NORMALS() {
  std::uint64_t sum = 0;
  for (std::uint32_t k = 0; k < 10000; ++k) {
    float first, second;
    tarn::box_muller(k * 0x9E3779B9u, k * 0xBB67AE85u, first, second);
    sum = 31 * sum + std::bit_cast<std::uint32_t>(first);
    sum = 31 * sum + std::bit_cast<std::uint32_t>(second);
  }
  return sum;
}
