#include <cstddef>
#include <cstdint>

#include TARN_FUZZ_HEADER

/// The HDF5 library forgets blocks of its own where a file is damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarn::fuzz::TARN_FUZZ({reinterpret_cast<const char*>(data), size});
  return 0;
}
