#include "kernels/cusolver_calls.hpp"

#include <dlfcn.h>
#include <string>

namespace tarn::gpu {
namespace {

/// Tries the loader's search path, then the path found by CMake (TARN_CUSOLVER_LIBRARY).
void* open_library() {
  const std::string name = "libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen(TARN_CUSOLVER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw DeviceError(name + " could not be loaded (" + (why == nullptr ? "" : why) +
                      "): install the CUDA toolkit's cuSOLVER, or put its folder on "
                      "LD_LIBRARY_PATH");
  }
  return library;
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(std::string("cuSOLVER has no function ") + name);
}

CusolverCalls load() {
  void* const library = open_library();
  CusolverCalls c{};
  find(library, "cusolverDnCreate", c.create);
  find(library, "cusolverDnDestroy", c.destroy);
  find(library, "cusolverDnSetStream", c.set_stream);
  find(library, "cusolverDnDpotrfBatched", c.factorise_batched);
  find(library, "cusolverDnDpotrsBatched", c.solve_batched);
  find(library, "cusolverDnDpotrf_bufferSize", c.buffer_size);
  find(library, "cusolverDnDpotrf", c.factorise);
  find(library, "cusolverDnDpotrs", c.solve);
  return c;
}

}  // namespace

const CusolverCalls& cusolver_calls() {
  static const CusolverCalls calls = load();
  return calls;
}

}  // namespace tarn::gpu
