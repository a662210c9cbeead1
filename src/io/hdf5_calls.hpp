#pragma once

#include <hdf5.h>

/// @file
/// The HDF5 library, loaded at run time: the program and the Python module then start without it.
/// Every function and constant that hdf5.cpp and h5md_*.cpp use is in these lists. The macros at
/// the end replace the names of the library; its header gives the types.

// clang-format off
// Since 1.10.7 and 1.12.1.
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
#define TARN_HDF5_LOCKING(X) X(H5Pset_file_locking)
#else
#define TARN_HDF5_LOCKING(X)
#endif
/// Functions.
#define TARN_HDF5_FUNCTIONS(X) \
  X(H5Aclose) X(H5Acreate_by_name) X(H5Aexists_by_name) X(H5Aget_space) X(H5Aget_type) \
  X(H5Aopen_by_name) X(H5Aread) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dget_space) X(H5Dget_type) \
  X(H5Dopen2) X(H5Dread) X(H5Dset_extent) X(H5Dwrite) X(H5Eset_auto2) X(H5Ewalk2) X(H5Fclose) \
  X(H5Fcreate) X(H5Fflush) X(H5Fincrement_filesize) X(H5Fis_hdf5) X(H5Fopen) X(H5Gclose) \
  X(H5Gcreate2) X(H5Gget_info) X(H5Lcreate_hard) X(H5Lexists) X(H5Lget_name_by_idx) X(H5Oclose) \
  X(H5Oopen) X(H5Pclose) X(H5Pcreate) X(H5Pget_mdc_config) X(H5Pset) X(H5Pset_chunk) TARN_HDF5_LOCKING(X) \
  X(H5Pset_libver_bounds) X(H5Pset_mdc_config) X(H5Pset_metadata_read_attempts) \
  X(H5Pset_obj_track_times) X(H5Sclose) X(H5Screate) X(H5Screate_simple) \
  X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_npoints) \
  X(H5Sselect_hyperslab) X(H5Tclose) X(H5Tcopy) X(H5Tenum_nameof) X(H5Tget_class) X(H5Tget_size) \
  X(H5Tis_variable_str) X(H5Tset_cset) X(H5Tset_size) X(H5check_version) X(H5dont_atexit) \
  X(H5free_memory) X(H5get_libversion) X(H5open)
/// Variables behind the constants of the header.
#define TARN_HDF5_CONSTANTS(X) \
  X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_FILE_CREATE_ID_g) \
  X(H5P_CLS_GROUP_CREATE_ID_g) X(H5T_C_S1_g) X(H5T_IEEE_F64LE_g) X(H5T_NATIVE_DOUBLE_g) \
  X(H5T_NATIVE_INT64_g) X(H5T_NATIVE_INT_g) X(H5T_STD_I32LE_g) X(H5T_STD_I64LE_g)
// clang-format on

namespace tarn::io::hdf5 {

struct Calls {
#define TARN_MEMBER(name) decltype(&::name) name = nullptr;
  TARN_HDF5_FUNCTIONS(TARN_MEMBER)
  TARN_HDF5_CONSTANTS(TARN_MEMBER)
#undef TARN_MEMBER
};

/// Loads the library at the first call. @throws InputError if there is none
const Calls& calls();

}  // namespace tarn::io::hdf5

#ifndef TARN_HDF5_KEEP_NAMES
#define H5Aclose (::tarn::io::hdf5::calls().H5Aclose)
#define H5Acreate_by_name (::tarn::io::hdf5::calls().H5Acreate_by_name)
#define H5Aexists_by_name (::tarn::io::hdf5::calls().H5Aexists_by_name)
#define H5Aget_space (::tarn::io::hdf5::calls().H5Aget_space)
#define H5Aget_type (::tarn::io::hdf5::calls().H5Aget_type)
#define H5Aopen_by_name (::tarn::io::hdf5::calls().H5Aopen_by_name)
#define H5Aread (::tarn::io::hdf5::calls().H5Aread)
#define H5Awrite (::tarn::io::hdf5::calls().H5Awrite)
#define H5Dclose (::tarn::io::hdf5::calls().H5Dclose)
#define H5Dcreate2 (::tarn::io::hdf5::calls().H5Dcreate2)
#define H5Dget_space (::tarn::io::hdf5::calls().H5Dget_space)
#define H5Dget_type (::tarn::io::hdf5::calls().H5Dget_type)
#define H5Dopen2 (::tarn::io::hdf5::calls().H5Dopen2)
#define H5Dread (::tarn::io::hdf5::calls().H5Dread)
#define H5Dset_extent (::tarn::io::hdf5::calls().H5Dset_extent)
#define H5Dwrite (::tarn::io::hdf5::calls().H5Dwrite)
#define H5Eset_auto2 (::tarn::io::hdf5::calls().H5Eset_auto2)
#define H5Ewalk2 (::tarn::io::hdf5::calls().H5Ewalk2)
#define H5Fclose (::tarn::io::hdf5::calls().H5Fclose)
#define H5Fcreate (::tarn::io::hdf5::calls().H5Fcreate)
#define H5Fflush (::tarn::io::hdf5::calls().H5Fflush)
#define H5Fincrement_filesize (::tarn::io::hdf5::calls().H5Fincrement_filesize)
#define H5Fis_hdf5 (::tarn::io::hdf5::calls().H5Fis_hdf5)
#define H5Fopen (::tarn::io::hdf5::calls().H5Fopen)
#define H5Gclose (::tarn::io::hdf5::calls().H5Gclose)
#define H5Gcreate2 (::tarn::io::hdf5::calls().H5Gcreate2)
#define H5Gget_info (::tarn::io::hdf5::calls().H5Gget_info)
#define H5Lcreate_hard (::tarn::io::hdf5::calls().H5Lcreate_hard)
#define H5Lexists (::tarn::io::hdf5::calls().H5Lexists)
#define H5Lget_name_by_idx (::tarn::io::hdf5::calls().H5Lget_name_by_idx)
#define H5Oclose (::tarn::io::hdf5::calls().H5Oclose)
#define H5Oopen (::tarn::io::hdf5::calls().H5Oopen)
#define H5Pclose (::tarn::io::hdf5::calls().H5Pclose)
#define H5Pcreate (::tarn::io::hdf5::calls().H5Pcreate)
#define H5Pget_mdc_config (::tarn::io::hdf5::calls().H5Pget_mdc_config)
#define H5Pset (::tarn::io::hdf5::calls().H5Pset)
#define H5Pset_chunk (::tarn::io::hdf5::calls().H5Pset_chunk)
#define H5Pset_file_locking (::tarn::io::hdf5::calls().H5Pset_file_locking)
#define H5Pset_libver_bounds (::tarn::io::hdf5::calls().H5Pset_libver_bounds)
#define H5Pset_mdc_config (::tarn::io::hdf5::calls().H5Pset_mdc_config)
#define H5Pset_metadata_read_attempts (::tarn::io::hdf5::calls().H5Pset_metadata_read_attempts)
#define H5Pset_obj_track_times (::tarn::io::hdf5::calls().H5Pset_obj_track_times)
#define H5Sclose (::tarn::io::hdf5::calls().H5Sclose)
#define H5Screate (::tarn::io::hdf5::calls().H5Screate)
#define H5Screate_simple (::tarn::io::hdf5::calls().H5Screate_simple)
#define H5Sget_simple_extent_dims (::tarn::io::hdf5::calls().H5Sget_simple_extent_dims)
#define H5Sget_simple_extent_ndims (::tarn::io::hdf5::calls().H5Sget_simple_extent_ndims)
#define H5Sget_simple_extent_npoints (::tarn::io::hdf5::calls().H5Sget_simple_extent_npoints)
#define H5Sselect_hyperslab (::tarn::io::hdf5::calls().H5Sselect_hyperslab)
#define H5Tclose (::tarn::io::hdf5::calls().H5Tclose)
#define H5Tcopy (::tarn::io::hdf5::calls().H5Tcopy)
#define H5Tenum_nameof (::tarn::io::hdf5::calls().H5Tenum_nameof)
#define H5Tget_class (::tarn::io::hdf5::calls().H5Tget_class)
#define H5Tget_size (::tarn::io::hdf5::calls().H5Tget_size)
#define H5Tis_variable_str (::tarn::io::hdf5::calls().H5Tis_variable_str)
#define H5Tset_cset (::tarn::io::hdf5::calls().H5Tset_cset)
#define H5Tset_size (::tarn::io::hdf5::calls().H5Tset_size)
#define H5check_version (::tarn::io::hdf5::calls().H5check_version)
#define H5dont_atexit (::tarn::io::hdf5::calls().H5dont_atexit)
#define H5free_memory (::tarn::io::hdf5::calls().H5free_memory)
#define H5get_libversion (::tarn::io::hdf5::calls().H5get_libversion)
#define H5open (::tarn::io::hdf5::calls().H5open)
#define H5P_CLS_DATASET_CREATE_ID_g (*::tarn::io::hdf5::calls().H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g (*::tarn::io::hdf5::calls().H5P_CLS_FILE_ACCESS_ID_g)
#define H5P_CLS_FILE_CREATE_ID_g (*::tarn::io::hdf5::calls().H5P_CLS_FILE_CREATE_ID_g)
#define H5P_CLS_GROUP_CREATE_ID_g (*::tarn::io::hdf5::calls().H5P_CLS_GROUP_CREATE_ID_g)
#define H5T_C_S1_g (*::tarn::io::hdf5::calls().H5T_C_S1_g)
#define H5T_IEEE_F64LE_g (*::tarn::io::hdf5::calls().H5T_IEEE_F64LE_g)
#define H5T_NATIVE_DOUBLE_g (*::tarn::io::hdf5::calls().H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_INT64_g (*::tarn::io::hdf5::calls().H5T_NATIVE_INT64_g)
#define H5T_NATIVE_INT_g (*::tarn::io::hdf5::calls().H5T_NATIVE_INT_g)
#define H5T_STD_I32LE_g (*::tarn::io::hdf5::calls().H5T_STD_I32LE_g)
#define H5T_STD_I64LE_g (*::tarn::io::hdf5::calls().H5T_STD_I64LE_g)
#endif
