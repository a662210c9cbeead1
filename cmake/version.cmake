# The generated headers: tarn/version.hpp (installed) and tarn/build_features.hpp (for doctor).
set(TARN_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
list(JOIN TARN_ARITHMETIC_FLAGS " " arithmetic)
set(TARN_BUILD_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}} ${arithmetic}")
if(TARN_SANITIZE)
  string(APPEND TARN_BUILD_FLAGS " -fsanitize=${TARN_SANITIZE}")
endif()
string(STRIP "${TARN_BUILD_FLAGS}" TARN_BUILD_FLAGS)
list(JOIN TARN_ARCHS " " TARN_BUILD_ARCHS)
if(TARN_HAVE_CUDA)
  set(TARN_BUILD_CUDA ${TARN_CUDA_VERSION})
  list(JOIN CMAKE_CUDA_ARCHITECTURES " " TARN_BUILD_CUDA_ARCHS)
endif()
if(TARN_HAVE_HDF5)
  set(TARN_BUILD_HDF5 ${HDF5_VERSION})
endif()
if(TARN_HAVE_MPI)
  string(REGEX REPLACE "[,\n].*" "" TARN_BUILD_MPI "${MPI_CXX_LIBRARY_VERSION_STRING}")
  if(NOT TARN_BUILD_MPI)
    set(TARN_BUILD_MPI "version ${MPI_CXX_VERSION} of the standard")
  endif()
endif()

# Relative path from the program to the decks, so that an installation can be moved as a whole.
include(GNUInstallDirs)
file(RELATIVE_PATH TARN_INPUTS_FROM_PROGRAM
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/tarn/inputs)

configure_file(cmake/version.hpp.in ${TARN_GENERATED_DIR}/tarn/version.hpp @ONLY)
configure_file(cmake/build_features.hpp.in ${TARN_GENERATED_DIR}/tarn/build_features.hpp @ONLY)
