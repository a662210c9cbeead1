#include "structure_fuzz.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::structure({reinterpret_cast<const char*>(data), size});
  return 0;
}
