# TARN_CUDA: AUTO uses CUDA 12 or newer if it and an NVIDIA driver are available, ON requires it (but
# no driver), OFF disables it.
# Sets TARN_HAVE_CUDA, and TARN_CUDA_STATUS to one line for the summary.

set(TARN_HAVE_CUDA FALSE)
if(TARN_CUDA STREQUAL "OFF")
  set(TARN_CUDA_STATUS "off (TARN_CUDA=OFF)")
  return()
endif()

if(TARN_CUDA STREQUAL "AUTO" AND NOT EXISTS /proc/driver/nvidia/version AND NOT EXISTS /dev/dxg)
  set(TARN_CUDA_STATUS "no: there is no NVIDIA driver; -DTARN_CUDA=ON builds the CUDA code without one")
  return()
endif()

# tarn_no_cuda(reason, remedy): an error if TARN_CUDA is ON, else a line in the summary.
macro(tarn_no_cuda why cure)
  if(TARN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TARN_CUDA=ON, but ${why}. ${cure}, or configure with -DTARN_CUDA=OFF.")
  endif()
  set(TARN_CUDA_STATUS "no: ${why}; the CPU engine supports all features")
endmacro()

if(CMAKE_CUDA_COMPILER)
  set(nvcc ${CMAKE_CUDA_COMPILER})
elseif(DEFINED ENV{CUDACXX})
  find_program(nvcc $ENV{CUDACXX} NO_CACHE)
else()
  find_program(nvcc nvcc PATHS ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
endif()
if(NOT nvcc)
  tarn_no_cuda("no CUDA compiler (nvcc) was found"
    "Install the CUDA toolkit 12 or newer and put its bin folder on PATH")
  return()
endif()

execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
if(NOT nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)")
  tarn_no_cuda("${nvcc} --version prints no version" "Reinstall the CUDA toolkit, version 12 or newer")
  return()
endif()
set(TARN_CUDA_VERSION ${CMAKE_MATCH_1})
if(TARN_CUDA_VERSION VERSION_LESS 12)
  tarn_no_cuda("${nvcc} is CUDA ${TARN_CUDA_VERSION} and tarn needs 12 or newer"
    "Install a newer CUDA toolkit and put its bin folder first on PATH")
  return()
endif()

# Developer builds have code for one architecture and its PTX, which newer GPUs compile at start-up in
# half a minute: the architecture of this machine's GPU if nvcc supports it, else sm_90. Each further
# one takes ten minutes of a core.
set(lacks "")
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(arch 90)
  set(lacks "; GPUs below 9.0 (A100, RTX 30 and 40) need -DTARN_CUDA_RELEASE_ARCHS=ON or -DCMAKE_CUDA_ARCHITECTURES")
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE nvcc_codes ERROR_QUIET)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE gpus ERROR_QUIET TIMEOUT 20)
  if(gpus MATCHES "^([0-9]+)\\.([0-9])\n")
    set(of_gpu ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    if(nvcc_codes MATCHES "sm_${of_gpu}[^0-9]")
      set(arch ${of_gpu})
      set(lacks "")
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${arch}-real ${arch}-virtual)
  if(TARN_CUDA_RELEASE_ARCHS)
    set(lacks "")
    set(CMAKE_CUDA_ARCHITECTURES "")
    foreach(arch 75 80 86 89 90 100 103 120)
      if(nvcc_codes MATCHES "sm_${arch}[^0-9]")
        list(APPEND CMAKE_CUDA_ARCHITECTURES ${arch}-real)
        set(newest ${arch})
      endif()
    endforeach()
    list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
  endif()
endif()

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER)
  unset(CMAKE_CUDA_COMPILER CACHE)  # it may have been installed since the last configure
endif()
set(ENV{CUDACXX} ${nvcc})
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  tarn_no_cuda("${nvcc} (CUDA ${TARN_CUDA_VERSION}) cannot compile with ${CMAKE_CXX_COMPILER}"
    "Install a CUDA toolkit that supports this C++ compiler, or set CUDAHOSTCXX to another one")
  return()
endif()

enable_language(CUDA)
# nvcc may use an older GCC than the linker: its libstdc++ must not be found first.
list(FILTER CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES EXCLUDE REGEX "/gcc/")
find_package(CUDAToolkit REQUIRED)
set(TARN_HAVE_CUDA TRUE)
# Without cuSOLVER only dense solves on a GPU are unavailable.
set(TARN_CUSOLVER_LIBRARY "")
find_path(TARN_CUSOLVER_INCLUDE_DIR cusolverDn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
mark_as_advanced(TARN_CUSOLVER_INCLUDE_DIR)
if(TARGET CUDA::cusolver AND TARN_CUSOLVER_INCLUDE_DIR)
  get_target_property(TARN_CUSOLVER_LIBRARY CUDA::cusolver IMPORTED_LOCATION)
  set(cusolver "with cuSOLVER")
else()
  set(cusolver "without cuSOLVER")
endif()
list(JOIN CMAKE_CUDA_ARCHITECTURES " " archs)
set(TARN_CUDA_STATUS "${TARN_CUDA_VERSION} (${nvcc}), for ${archs}, ${cusolver}${lacks}")
