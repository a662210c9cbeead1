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

# tarn_optional(<package> <debian packages> [arguments of find_package...]): sets TARN_HAVE_<package>. The
# option TARN_<package> is AUTO, ON or OFF.
macro(tarn_optional package debian)
  set(TARN_HAVE_${package} FALSE)
  if(NOT TARN_${package} STREQUAL "OFF")
    find_package(${package} QUIET ${ARGN})
    set(TARN_HAVE_${package} ${${package}_FOUND})
    if(TARN_${package} STREQUAL "ON" AND NOT TARN_HAVE_${package})
      message(FATAL_ERROR "TARN_${package}=ON, but ${package} was not found. On Debian: "
        "apt-get install ${debian}, or configure with -DTARN_${package}=OFF.")
    endif()
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

tarn_optional(HDF5 "libhdf5-dev" COMPONENTS C)

set(MPI_DETERMINE_LIBRARY_VERSION ON)
tarn_optional(MPI "libopenmpi-dev openmpi-bin" COMPONENTS CXX)

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
