# User options (-D), with the defaults of `cmake -B build`.

# As a subproject, tests and installation are off by default.
option(TARN_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TARN_PAPERS "Build tarn-papers, the program of the papers' systems" ${TARN_TESTS})
option(TARN_INSTALL "Install tarn" ${PROJECT_IS_TOP_LEVEL})
option(TARN_WERROR "Make warnings errors" OFF)
option(TARN_PYTHON "Build the Python module; pip install . does so" OFF)
option(TARN_FUZZ "Build the fuzzers of the readers (clang; preset fuzz)" OFF)
set(TARN_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=; for example address,undefined")

# tarn_choice(NAME "help"): a cache variable that is AUTO (use it if available), ON or OFF.
function(tarn_choice name help)
  set(${name} AUTO CACHE STRING "${help}: AUTO, ON or OFF")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} is \"${${name}}\"; it must be AUTO, ON or OFF")
  endif()
endfunction()
tarn_choice(TARN_CUDA "Build the CUDA engine; AUTO: on machines with an NVIDIA driver")
tarn_choice(TARN_HDF5 "Read and write HDF5 files")
tarn_choice(TARN_MPI "Run on several nodes by MPI")
option(TARN_CUDA_RELEASE_ARCHS "CUDA machine code for sm_75 to sm_120, not for sm_90 only" OFF)

set(TARN_CPU_TABLES all CACHE STRING
  "Instruction sets of the CPU engine: all, or the best one of this machine (native)")
set_property(CACHE TARN_CPU_TABLES PROPERTY STRINGS all native)
if(NOT TARN_CPU_TABLES MATCHES "^(all|native)$")
  message(FATAL_ERROR "TARN_CPU_TABLES is \"${TARN_CPU_TABLES}\"; it must be all or native")
endif()

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(TARN_CCACHE ccache)
mark_as_advanced(TARN_CCACHE)
set(use_ccache ${TARN_CCACHE})
if(DEFINED ENV{CCACHE_DISABLE})
  set(use_ccache OFF)
endif()
if(use_ccache)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${TARN_CCACHE})
    endif()
  endforeach()
endif()

# Headers that many files share are read once. Not with ccache, which would find less than this
# saves; a build with ccache therefore shows where an include is missing.
set(precompile OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT use_ccache AND NOT TARN_SANITIZE)
  set(precompile ON)
endif()
option(TARN_PRECOMPILE "Precompile headers that many files share" ${precompile})
mark_as_advanced(TARN_PRECOMPILE)
