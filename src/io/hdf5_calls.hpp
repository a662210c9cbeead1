#pragma once

#include <hdf5.h>

/// @file
/// The HDF5 library, loaded at run time: the program and the Python module then start without it.
/// The objects of this file have the names of the functions and variables of the library that
/// hdf5.cpp and h5md_*.cpp use; within tarn::io they hide those of its header, which gives the
/// types.

namespace tarn::io {
namespace hdf5 {

/// The address of a function or variable. Loads the library at the first call.
/// @throws InputError if there is none
void* address_of(const char* name);

/// A function of the library.
template <class F>
class Function {
 public:
  constexpr explicit Function(const char* name) : name_(name) {}
  template <class... Arguments>
  auto operator()(const Arguments&... arguments) const {
    return static_cast<F*>(*this)(arguments...);
  }
  operator F*() const {
    if (address_ == nullptr) address_ = reinterpret_cast<F*>(address_of(name_));
    return address_;
  }

 private:
  const char* name_;
  mutable F* address_ = nullptr;
};

/// An identifier behind a constant of the header.
struct Constant {
  const char* name;
  operator hid_t() const { return *static_cast<const hid_t*>(address_of(name)); }
};

}  // namespace hdf5

#define TARN_CALL(name) inline const hdf5::Function<decltype(::name)> name(#name);
#define TARN_ID(name) inline constexpr hdf5::Constant name{#name};
// clang-format off
TARN_CALL(H5Aclose) TARN_CALL(H5Acreate_by_name) TARN_CALL(H5Aexists_by_name)
TARN_CALL(H5Aget_space) TARN_CALL(H5Aget_type) TARN_CALL(H5Aopen_by_name) TARN_CALL(H5Aread)
TARN_CALL(H5Awrite) TARN_CALL(H5Dclose) TARN_CALL(H5Dcreate2) TARN_CALL(H5Dget_space)
TARN_CALL(H5Dget_type) TARN_CALL(H5Dopen2) TARN_CALL(H5Dread) TARN_CALL(H5Dset_extent)
TARN_CALL(H5Dwrite) TARN_CALL(H5Eset_auto2) TARN_CALL(H5Ewalk2) TARN_CALL(H5Fclose)
TARN_CALL(H5Fcreate) TARN_CALL(H5Fflush) TARN_CALL(H5Fincrement_filesize) TARN_CALL(H5Fis_hdf5)
TARN_CALL(H5Fopen) TARN_CALL(H5Gclose) TARN_CALL(H5Gcreate2) TARN_CALL(H5Gget_info)
TARN_CALL(H5Lcreate_hard) TARN_CALL(H5Lexists) TARN_CALL(H5Lget_name_by_idx) TARN_CALL(H5Oclose)
TARN_CALL(H5Oopen) TARN_CALL(H5Pclose) TARN_CALL(H5Pcreate) TARN_CALL(H5Pget_mdc_config)
TARN_CALL(H5Pset) TARN_CALL(H5Pset_chunk) TARN_CALL(H5Pset_libver_bounds)
TARN_CALL(H5Pset_mdc_config) TARN_CALL(H5Pset_metadata_read_attempts)
TARN_CALL(H5Pset_obj_track_times) TARN_CALL(H5Sclose) TARN_CALL(H5Screate)
TARN_CALL(H5Screate_simple) TARN_CALL(H5Sget_simple_extent_dims)
TARN_CALL(H5Sget_simple_extent_ndims) TARN_CALL(H5Sget_simple_extent_npoints)
TARN_CALL(H5Sselect_hyperslab) TARN_CALL(H5Tclose) TARN_CALL(H5Tcopy) TARN_CALL(H5Tenum_nameof)
TARN_CALL(H5Tget_class) TARN_CALL(H5Tget_size) TARN_CALL(H5Tis_variable_str) TARN_CALL(H5Tset_cset)
TARN_CALL(H5Tset_size) TARN_CALL(H5check_version) TARN_CALL(H5dont_atexit) TARN_CALL(H5free_memory)
TARN_CALL(H5get_libversion) TARN_CALL(H5open) TARN_ID(H5P_CLS_DATASET_CREATE_ID_g)
TARN_ID(H5P_CLS_FILE_ACCESS_ID_g) TARN_ID(H5P_CLS_FILE_CREATE_ID_g)
TARN_ID(H5P_CLS_GROUP_CREATE_ID_g) TARN_ID(H5T_C_S1_g) TARN_ID(H5T_IEEE_F64LE_g)
TARN_ID(H5T_NATIVE_DOUBLE_g) TARN_ID(H5T_NATIVE_INT64_g) TARN_ID(H5T_NATIVE_INT_g)
TARN_ID(H5T_STD_I32LE_g) TARN_ID(H5T_STD_I64LE_g)
// Since 1.10.7 and 1.12.1.
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
TARN_CALL(H5Pset_file_locking)
#endif
// clang-format on
#undef TARN_CALL
#undef TARN_ID

}  // namespace tarn::io
