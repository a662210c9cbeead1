#ifdef TARN_HDF5_SONAME

#include "hdf5_calls.hpp"

#include <dlfcn.h>
#include <string>

#include "tarn/core/error.hpp"

namespace tarn::io::hdf5 {
namespace {

void* loaded_library(const std::string& name) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* why = dlerror();
  throw InputError("H5MD needs the HDF5 library " + name + ", which could not be loaded (" +
                   (why == nullptr ? "" : why) +
                   "). Install it (Debian 12: apt-get install libhdf5-103-1), or use another "
                   "format.");
}

}  // namespace

void* address_of(const char* symbol) {
  static const std::string name = TARN_HDF5_SONAME;
  static void* const library = loaded_library(name);
  void* const address = dlsym(library, symbol);
  if (address != nullptr) return address;
  throw InputError(name + " has no " + symbol + ", which H5MD needs");
}

}  // namespace tarn::io::hdf5

#endif
