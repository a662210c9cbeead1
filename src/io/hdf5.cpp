#ifdef TARN_HAVE_HDF5

#include "hdf5.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "frame_formats.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io::hdf5 {
namespace {

/// The innermost message of the library, which contains the reason.
std::string reason() {
  std::string text;
  const auto first = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
    if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first, &text);
  return text.empty() ? "the HDF5 library gives no reason" : text;
}

/// The error number of a failed system call in a message of the library; 0: none.
int error_number_in(const std::string& why) {
  constexpr std::string_view kMark = "errno = ";
  const std::size_t at = why.find(kMark);
  return at == std::string::npos ? 0 : std::atoi(why.c_str() + at + kMark.size());
}

/// Whether an error number means that a file system has no locks.
bool means_no_locks(int error_number) {
  constexpr int kNotSupportedByNfs = 524;  // ENOTSUPP of the kernel, which has no name here
  return error_number == ENOLCK || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == kNotSupportedByNfs;
}

/// The lock of a run's folder already excludes other writers.
void open_without_locks([[maybe_unused]] const Handle& access) {
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
  H5Pset_file_locking(access, false, true);
#endif
}

bool is_number_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

/// Selects rows of a dataset of that shape. @return the same shape in memory
Handle select_rows(hid_t in_file, std::vector<hsize_t> shape, hsize_t first, hsize_t rows) {
  std::vector<hsize_t> begin(shape.size(), 0);
  begin[0] = first;
  shape[0] = rows;
  H5Sselect_hyperslab(in_file, H5S_SELECT_SET, begin.data(), nullptr, shape.data(), nullptr);
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose};
}

/// Limits the memory that a damaged count can request.
constexpr hssize_t kMostTexts = 16;

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

/// Creation properties without time stamps, so that equal runs give equal files.
Handle timeless(hid_t kind) {
  Handle creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return creation;
}

/// The time of a flush in SWMR mode grows with the metadata cache, and with thousands of datasets
/// the cache dominated. The default limit of the library is 32 MiB.
void limit_cache(const Handle& access) {
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access, &config);
  config.set_initial_size = 1;
  config.initial_size = config.min_size = config.max_size = std::size_t{1} << 18;
  config.incr_mode = H5C_incr__off;
  config.flash_incr_mode = H5C_flash_incr__off;
  config.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access, &config);
}

/// Strings of variable length, or else the bytes of each element.
/// @param read reads them, as they are in the file
template <class Read>
std::vector<std::string> elements_of(const Handle& type, std::size_t count, const Read& read) {
  std::vector<std::string> elements(count);
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> values(count, nullptr);
    read(values.data());
    for (std::size_t k = 0; k < count; ++k) {
      if (values[k] != nullptr) elements[k] = values[k];
      H5free_memory(values[k]);
    }
    return elements;
  }
  const std::size_t length = H5Tget_size(type);
  std::string values(count * length, '\0');
  read(values.data());
  for (std::size_t k = 0; k < count; ++k) elements[k] = values.substr(k * length, length);
  return elements;
}

}  // namespace

bool File::is_hdf5(const std::string& path) {
  hdf5_version();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return H5Fis_hdf5(path.c_str()) != 0;  // negative for an unreadable file, which opening reports
}

File::File(std::string path, Mode mode) : path_(std::move(path)) {
  hdf5_version();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Handle plain(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Closing it erases the reason of an error.
  const Handle creation = timeless(H5P_FILE_CREATE);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  limit_cache(access);
  // A second attempt suffices for metadata that a writer is changing. The pauses between attempts
  // double, so the default of 100 attempts would never end for a damaged file.
  H5Pset_metadata_read_attempts(access, 20);
  const hbool_t yes = 1;
  const auto open = [&]() -> hid_t {
    switch (mode) {
      case Mode::create:
        return H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
      case Mode::change:
        // As h5clear does: removes the mark, and uses the actual end of the file instead of the one
        // last recorded by the killed writer.
        H5Pset(access, "clear_status_flags", &yes);
        H5Pset(access, "skip_eof_check", &yes);
        return H5Fopen(path_.c_str(), H5F_ACC_RDWR, access);
      case Mode::append:
        return H5Fopen(path_.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
      case Mode::read:
        break;
    }
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, plain);
    has_writer_ = file < 0;
    if (!has_writer_) return file;
    // After a full disk the file may be shorter than the length recorded by the writer.
    H5Pset(access, "skip_eof_check", &yes);
    return H5Fopen(path_.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  };
  hid_t file = open();
  if (file < 0 && means_no_locks(error_number_in(reason()))) {
    for (const Handle* properties : {&access, &plain}) open_without_locks(*properties);
    file = open();
  }
  checked(file, mode == Mode::read ? "read" : "write");
  file_ = Handle(file, H5Fclose);
  if (mode == Mode::change) checked(H5Fincrement_filesize(file, 0), "write");
}

void File::fail(std::string_view action) const {
  const std::string why = reason();
  const int number = error_number_in(why);
  if (number == EWOULDBLOCK) {
    throw IoError(fmt::format(
        "cannot {} '{}': another program has it open. Close it there (for example in a viewer), "
        "then try again.",
        action, path_));
  }
  if (means_no_locks(number)) {
    throw IoError(fmt::format(
        "cannot {} '{}': its file system has no file locks. Set the environment variable "
        "HDF5_USE_FILE_LOCKING=FALSE.",
        action, path_));
  }
  if (number != 0) throw_io_error(action, path_, number);
  throw IoError(fmt::format("cannot {} '{}': {}. Check the disk, the permissions and the contents.",
                            action, path_, why));
}

void File::flush() const { checked(H5Fflush(file_, H5F_SCOPE_LOCAL), "write"); }

void File::close() { checked(file_.close(), "write"); }

bool File::has(const std::string& name) const {
  // Each part of the path must exist before the next one can be tested.
  for (std::size_t end = name.find('/'); true; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    const htri_t exists = H5Lexists(file_, part.c_str(), H5P_DEFAULT);
    if (checked(exists, "read " + part + " in") == 0) return false;
    if (end == std::string::npos) return true;
  }
}

void File::make_group(const std::string& name) const {
  const Handle creation = timeless(H5P_GROUP_CREATE);
  checked(Handle(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose),
          "write");
}

Handle File::open(const std::string& name) const {
  return {checked(H5Oopen(file_, name.c_str(), H5P_DEFAULT), "read " + name + " in"), H5Oclose};
}

std::vector<std::string> File::names_in(const std::string& group) const {
  const Handle object = open(group);
  H5G_info_t info{};
  checked(H5Gget_info(object, &info), "read");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name = [&](char* text, std::size_t size) {
      return checked(
          H5Lget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, text, size, H5P_DEFAULT),
          "read");
    };
    names.emplace_back(static_cast<std::size_t>(name(nullptr, 0)), '\0');
    name(names.back().data(), names.back().size() + 1);
  }
  return names;
}

void File::write_attribute(const std::string& object, const char* name, hid_t type,
                           std::optional<hsize_t> size, hid_t memory_type,
                           const void* values) const {
  const Handle space(size ? H5Screate_simple(1, &*size, nullptr) : H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate_by_name(file_, object.c_str(), name, type, space, H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  checked(H5Awrite(attribute, memory_type, values), "write");
}

void File::set_attribute(const std::string& object, const char* name, std::string_view text) const {
  const Handle type = text_type();
  const std::string copy(text);
  const char* value = copy.c_str();
  write_attribute(object, name, type, std::nullopt, type, &value);
}

void File::set_attribute(const std::string& object, const char* name,
                         const std::vector<std::string>& texts) const {
  const Handle type = text_type();
  std::vector<const char*> values;
  for (const std::string& text : texts) values.push_back(text.c_str());
  write_attribute(object, name, type, values.size(), type, values.data());
}

void File::set_attribute(const std::string& object, const char* name,
                         const std::vector<int>& numbers) const {
  const auto size = numbers.size() == 1 ? std::nullopt : std::optional<hsize_t>(numbers.size());
  write_attribute(object, name, H5T_STD_I32LE, size, H5T_NATIVE_INT, numbers.data());
}

void File::set_attribute(const std::string& object, const char* name, double number) const {
  write_attribute(object, name, H5T_IEEE_F64LE, std::nullopt, H5T_NATIVE_DOUBLE, &number);
}

std::optional<File::Attribute> File::attribute(const std::string& object, const char* name,
                                               const std::string& action) const {
  if (checked(H5Aexists_by_name(file_, object.c_str(), name, H5P_DEFAULT), action) == 0) return {};
  Handle handle(
      checked(H5Aopen_by_name(file_, object.c_str(), name, H5P_DEFAULT, H5P_DEFAULT), action),
      H5Aclose);
  Handle type(H5Aget_type(handle), H5Tclose);
  const Handle space(H5Aget_space(handle), H5Sclose);
  return Attribute{std::move(handle), std::move(type), H5Sget_simple_extent_npoints(space)};
}

std::optional<double> File::number_attribute(const std::string& object, const char* name) const {
  const std::string action = fmt::format("read {} of {} in", name, object);
  const std::optional<Attribute> found = attribute(object, name, action);
  if (!found || !is_number_type(found->type) || found->values != 1) return std::nullopt;
  double number = 0.0;
  checked(H5Aread(found->handle, H5T_NATIVE_DOUBLE, &number), action);
  return number;
}

std::string File::text_attribute(const std::string& object, const char* name) const {
  const std::vector<std::string> texts = text_attributes(object, name);
  return texts.size() == 1 ? texts.front() : "";
}

std::vector<std::string> File::text_attributes(const std::string& object, const char* name) const {
  const std::string action = fmt::format("read {} of {} in", name, object);
  const std::optional<Attribute> found = attribute(object, name, action);
  if (!found || H5Tget_class(found->type) != H5T_STRING || found->values < 1 ||
      found->values > kMostTexts) {
    return {};
  }
  const auto count = static_cast<std::size_t>(found->values);
  std::vector<std::string> texts = elements_of(found->type, count, [&](void* values) {
    checked(H5Aread(found->handle, found->type, values), action);
  });
  for (std::string& text : texts) text.resize(std::min(text.find('\0'), text.size()));
  return texts;
}

std::vector<hsize_t> File::shape_of(const Handle& dataset, const std::string& name) const {
  const std::string action = "read " + name + " in";
  const Handle space(checked(H5Dget_space(dataset), action), H5Sclose);
  std::vector<hsize_t> shape(
      static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space), action)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

std::vector<hsize_t> File::shape_of(const std::string& dataset) const {
  return shape_of(open(dataset), dataset);
}

bool File::is_number(const std::string& dataset) const {
  return is_number_type(Handle(H5Dget_type(open(dataset)), H5Tclose));
}

std::vector<std::string> File::texts(const std::string& name) const {
  const std::string action = "read " + name + " in";
  const Handle dataset = open(name);
  const Handle type(checked(H5Dget_type(dataset), action), H5Tclose);
  const std::vector<hsize_t> shape = shape_of(dataset, name);
  const H5T_class_t kind = H5Tget_class(type);
  if (shape.size() != 1 || shape[0] == 0 || (kind != H5T_STRING && kind != H5T_ENUM)) return {};
  std::vector<std::string> texts = elements_of(type, shape[0], [&](void* values) {
    checked(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), action);
  });
  if (H5Tis_variable_str(type) > 0) return texts;
  constexpr std::size_t kLongestName = 64;
  for (std::string& text : texts) {
    if (kind == H5T_ENUM) {
      std::string member(kLongestName, '\0');
      if (H5Tenum_nameof(type, text.data(), member.data(), member.size()) < 0) return {};
      text = member;
    }
    text.resize(std::min(text.find('\0'), text.size()));
    // Strings of fixed length may be padded with blanks.
    text.resize(text.find_last_not_of(' ') + 1);
  }
  return texts;
}

void File::make_numbers(const std::string& name, const std::vector<int>& values) const {
  const hsize_t size = values.size();
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Handle creation = timeless(H5P_DATASET_CREATE);
  const Handle dataset(
      H5Dcreate2(file_, name.c_str(), H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
      H5Dclose);
  checked(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
}

void File::link(const std::string& dataset, const std::string& name) const {
  checked(H5Lcreate_hard(file_, dataset.c_str(), file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
          "write");
}

void File::make_growing(const std::string& name, hid_t type, const std::vector<hsize_t>& row,
                        hsize_t rows_in_chunk) const {
  std::vector<hsize_t> shape{0}, most{H5S_UNLIMITED}, chunk{rows_in_chunk};
  for (std::vector<hsize_t>* all : {&shape, &most, &chunk}) {
    all->insert(all->end(), row.begin(), row.end());
  }
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), most.data()),
                     H5Sclose);
  const Handle creation = timeless(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  checked(Handle(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                 H5Dclose),
          "write");
}

void File::resize(const std::string& name, hsize_t rows) const {
  std::vector<hsize_t> shape = shape_of(name);
  shape[0] = rows;
  checked(H5Dset_extent(open(name), shape.data()), "write");
}

void File::append(const Handle& group, const char* name, hid_t memory_type, const void* values,
                  hsize_t rows) const {
  Handle dataset(checked(H5Dopen2(group, name, H5P_DEFAULT), "write"), H5Dclose);
  std::vector<hsize_t> shape = shape_of(dataset, name);
  const hsize_t first = shape[0];
  shape[0] += rows;
  checked(H5Dset_extent(dataset, shape.data()), "write");
  const Handle in_file(H5Dget_space(dataset), H5Sclose);
  const Handle in_memory = select_rows(in_file, shape, first, rows);
  checked(H5Dwrite(dataset, memory_type, in_memory, in_file, H5P_DEFAULT, values), "write");
  checked(dataset.close(), "write");
}

void File::read(const std::string& name, hid_t memory_type, void* values, hsize_t first,
                hsize_t rows) const {
  const std::string action = "read " + name + " in";
  const Handle dataset = open(name);
  const Handle in_file(checked(H5Dget_space(dataset), action), H5Sclose);
  const std::vector<hsize_t> shape = shape_of(dataset, name);
  Handle in_memory;  // of a scalar: all of it
  if (!shape.empty()) in_memory = select_rows(in_file, shape, first, rows);
  checked(H5Dread(dataset, memory_type, shape.empty() ? H5S_ALL : hid_t{in_memory},
                  shape.empty() ? H5S_ALL : hid_t{in_file}, H5P_DEFAULT, values),
          action);
}

}  // namespace tarn::io::hdf5

std::string tarn::io::hdf5_version() {
  // The exit handler of the library crashes after a failed write. It is not needed, because all
  // files are closed before. The call must be the first one.
  [[maybe_unused]] static const herr_t nothing_at_exit = H5dont_atexit();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  const std::string version = fmt::format("{}.{}.{}", major, minor, release);
  const std::string built = fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
  // With this variable the library does not abort.
  if (version != built && std::getenv("HDF5_DISABLE_VERSION_CHECK") == nullptr) {
    throw InputError(fmt::format(
        "the HDF5 library that is loaded has version {}, but this build needs {}. Install that "
        "version, build tarn again, or choose another format",
        version, built));
  }
  return version;
}

#endif
