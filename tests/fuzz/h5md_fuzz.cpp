#include "h5md_fuzz.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::h5md({reinterpret_cast<const char*>(data), size});
  return 0;
}
