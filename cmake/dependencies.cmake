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

# tarn_soname(<shared library> <variable>): the name by which programs load it.
function(tarn_soname library variable)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE header)
  if(NOT header MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is not a shared library with a SONAME, which TARN_PORTABLE needs")
  endif()
  set(${variable} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

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
set(TARN_HDF5_TARGET HDF5::HDF5)
if(TARN_HAVE_HDF5 AND TARN_PORTABLE)
  # src/io/hdf5_calls.cpp loads the library by its soname.
  list(GET HDF5_C_LIBRARIES 0 library)
  tarn_soname(${library} soname)
  add_library(tarn_hdf5_at_run_time INTERFACE)
  target_include_directories(tarn_hdf5_at_run_time SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_compile_definitions(tarn_hdf5_at_run_time INTERFACE TARN_HDF5_SONAME="${soname}")
  target_link_libraries(tarn_hdf5_at_run_time INTERFACE ${CMAKE_DL_LIBS})
  set(TARN_HDF5_TARGET tarn_hdf5_at_run_time)
endif()

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
