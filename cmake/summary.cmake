# The summary at the end of a configure.
list(JOIN TARN_ARCHS " " archs)
if(TARN_HAVE_HDF5)
  set(hdf5 "${HDF5_VERSION}")
else()
  set(hdf5 "no")
endif()
message(STATUS "tarn ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
  "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  instruction sets: ${archs}")
message(STATUS "  CUDA: ${TARN_CUDA_STATUS}")
message(STATUS "  HDF5: ${hdf5}; tests: ${TARN_TESTS}; benchmarks: ${TARN_BENCH}")
