#include "frame_formats.hpp"
#include "tarn/io/formats.hpp"

#ifndef TARN_HAVE_HDF5
#include "tarn/core/error.hpp"
#endif

namespace tarn::io {

bool looks_like_h5md(std::string_view beginning) {
  return beginning.starts_with("\x89HDF\r\n\x1a\n");
}

#ifdef TARN_HAVE_HDF5

bool has_h5md() { return true; }

#else

std::string hdf5_version() {
  throw InputError(
      "this build of tarn has no HDF5 and cannot read or write H5MD. Install libhdf5-dev and build "
      "again, or choose another format");
}
std::unique_ptr<FrameReader> open_h5md(const std::string&) { throw InputError(hdf5_version()); }
std::unique_ptr<TrajectoryWriter> write_h5md(const TrajectoryInfo&) {
  throw InputError(hdf5_version());
}
bool has_h5md() { return false; }

#endif

}  // namespace tarn::io
