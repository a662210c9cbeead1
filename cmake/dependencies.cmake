# Third-party libraries, all available as Debian packages. tools/setup installs them.

# tarn_require(<package> <debian package> [arguments of find_package...])
macro(tarn_require package debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "tarn needs ${package}, which was not found. On Debian: apt-get install ${debian}, "
      "or run tools/setup, which installs all dependencies.")
  endif()
endmacro()

tarn_require(Threads libc6-dev)
tarn_require(Eigen3 libeigen3-dev NO_MODULE)
tarn_require(fmt libfmt-dev)
tarn_require(tomlplusplus libtomlplusplus-dev)
tarn_require(CLI11 libcli11-dev)

# Random123 is header-only and has no CMake package.
find_path(TARN_RANDOM123_INCLUDE_DIR Random123/philox.h)
mark_as_advanced(TARN_RANDOM123_INCLUDE_DIR)
if(NOT TARN_RANDOM123_INCLUDE_DIR)
  message(FATAL_ERROR "tarn needs Random123, which was not found. On Debian: "
    "apt-get install librandom123-dev, or run tools/setup.")
endif()

set(TARN_HAVE_HDF5 FALSE)
if(NOT TARN_HDF5 STREQUAL "OFF")
  find_package(HDF5 QUIET COMPONENTS C)
  set(TARN_HAVE_HDF5 ${HDF5_FOUND})
  if(TARN_HDF5 STREQUAL "ON" AND NOT TARN_HAVE_HDF5)
    message(FATAL_ERROR "TARN_HDF5=ON, but HDF5 was not found. On Debian: "
      "apt-get install libhdf5-dev, or configure with -DTARN_HDF5=OFF.")
  endif()
endif()

set(TARN_HAVE_MPI FALSE)
if(NOT TARN_MPI STREQUAL "OFF")
  set(MPI_DETERMINE_LIBRARY_VERSION ON)
  find_package(MPI QUIET COMPONENTS CXX)
  set(TARN_HAVE_MPI ${MPI_CXX_FOUND})
  if(TARN_MPI STREQUAL "ON" AND NOT TARN_HAVE_MPI)
    message(FATAL_ERROR "TARN_MPI=ON, but MPI was not found. On Debian: "
      "apt-get install libopenmpi-dev openmpi-bin, or configure with -DTARN_MPI=OFF.")
  endif()
endif()

if(TARN_TESTS)
  tarn_require(GTest libgtest-dev)
endif()

set(bench OFF)
if(PROJECT_IS_TOP_LEVEL)
  find_package(benchmark QUIET)
  set(bench ${benchmark_FOUND})
endif()
option(TARN_BENCH "Build the benchmarks (Google Benchmark)" ${bench})
if(TARN_BENCH)
  tarn_require(benchmark libbenchmark-dev)
endif()
