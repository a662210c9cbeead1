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

set(TARN_HAVE_HDF5 FALSE)
if(NOT TARN_HDF5 STREQUAL "OFF")
  find_package(HDF5 QUIET COMPONENTS C)
  set(TARN_HAVE_HDF5 ${HDF5_FOUND})
  if(TARN_HDF5 STREQUAL "ON" AND NOT TARN_HAVE_HDF5)
    message(FATAL_ERROR "TARN_HDF5=ON, but HDF5 was not found. On Debian: "
      "apt-get install libhdf5-dev, or configure with -DTARN_HDF5=OFF.")
  endif()
endif()
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
