#ifdef TARN_HDF5_SONAME

#define TARN_HDF5_KEEP_NAMES
#include "hdf5_calls.hpp"

#include <dlfcn.h>
#include <string>
#include <type_traits>

#include "tarn/core/error.hpp"

namespace tarn::io::hdf5 {
namespace {

Calls load() {
  const std::string name = TARN_HDF5_SONAME;
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw InputError("H5MD needs the HDF5 library " + name + ", which could not be loaded (" +
                     (why == nullptr ? "" : why) +
                     "). Install it (Debian 12: apt-get install libhdf5-103-1), or use another "
                     "format.");
  }
  Calls calls;
  const auto find = [&](const char* symbol, auto& address) {
    address = reinterpret_cast<std::remove_reference_t<decltype(address)>>(dlsym(library, symbol));
    if (address == nullptr) throw InputError(name + " has no " + symbol + ", which H5MD needs");
  };
#define TARN_FIND(name) find(#name, calls.name);
  TARN_HDF5_FUNCTIONS(TARN_FIND)
  TARN_HDF5_CONSTANTS(TARN_FIND)
#undef TARN_FIND
  return calls;
}

}  // namespace

const Calls& calls() {
  static const Calls loaded = load();
  return loaded;
}

}  // namespace tarn::io::hdf5

#endif
