#include "h5md_fuzz.hpp"

#include <cstddef>
#include <cstdint>

/// The HDF5 library forgets blocks of its own where a file is damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::h5md({reinterpret_cast<const char*>(data), size});
  return 0;
}
