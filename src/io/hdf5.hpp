#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

/// @file
/// The part of the HDF5 library that tarn uses. Errors are thrown as IoError, and nothing is
/// printed.

namespace tarn::io::hdf5 {

/// An identifier that is closed with the object.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close how_to_close) : id_(id), close_(how_to_close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  operator hid_t() const { return id_; }
  /// Negative if the library fails to close it.
  herr_t close() { return id_ >= 0 ? close_(std::exchange(id_, H5I_INVALID_HID)) : 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// An open file.
class File {
 public:
  enum class Mode { create, change, append, read };

  /// @param mode create: a new file, in the format that SWMR requires; change: removes the mark of
  /// a killed writer; append: as the single writer of SWMR, which can only extend datasets; read:
  /// also files that a running or killed writer has open
  /// @throws IoError
  File(std::string path, Mode mode);

  /// Whether a file has the HDF5 signature, at its beginning or after a user block.
  static bool is_hdf5(const std::string& path);

  const std::string& path() const { return path_; }
  /// For Mode::read: whether a writer has the file open, or had it open when it was killed.
  bool has_writer() const { return has_writer_; }
  /// Writes everything to the file. @throws IoError
  void flush() const;
  /// @throws IoError
  void close();

  /// @throws IoError that names the action, if the library returned an error
  template <class T>
  T checked(T result, std::string_view action) const {
    if (result < 0) fail(action);
    return result;
  }

  /// All names below are full names from the root. @throws IoError
  bool has(const std::string& name) const;
  void make_group(const std::string& name) const;
  /// Adds another name for a dataset.
  void link(const std::string& dataset, const std::string& name) const;
  Handle open(const std::string& name) const;
  std::vector<std::string> names_in(const std::string& group) const;

  void set_attribute(const std::string& object, const char* name, std::string_view text) const;
  void set_attribute(const std::string& object, const char* name,
                     const std::vector<std::string>& texts) const;
  void set_attribute(const std::string& object, const char* name,
                     const std::vector<int>& numbers) const;
  void set_attribute(const std::string& object, const char* name, double number) const;
  /// Empty if there is none.
  std::string text_attribute(const std::string& object, const char* name) const;
  /// Nothing unless it is a single number.
  std::optional<double> number_attribute(const std::string& object, const char* name) const;
  /// All texts of a short array.
  std::vector<std::string> text_attributes(const std::string& object, const char* name) const;

  std::vector<hsize_t> shape_of(const std::string& dataset) const;
  /// Whether its elements are integers or floats.
  bool is_number(const std::string& dataset) const;
  /// The elements of a list of strings, or the names of those of an enumeration; empty for others.
  std::vector<std::string> texts(const std::string& dataset) const;
  void make_numbers(const std::string& name, const std::vector<int>& values) const;
  /// Creates an empty dataset that grows along its first dimension. @param row shape of one row
  void make_growing(const std::string& name, hid_t type, const std::vector<hsize_t>& row,
                    hsize_t rows_in_chunk) const;
  /// Changes the number of rows.
  void resize(const std::string& name, hsize_t rows) const;
  /// Adds rows at the end of a dataset of an open group.
  void append(const Handle& group, const char* name, hid_t memory_type, const void* values,
              hsize_t rows) const;
  /// Reads rows, converted to the type in memory; for a scalar, its value.
  void read(const std::string& name, hid_t memory_type, void* values, hsize_t first,
            hsize_t rows) const;

 private:
  [[noreturn]] void fail(std::string_view action) const;
  std::vector<hsize_t> shape_of(const Handle& dataset, const std::string& name) const;
  /// @param size of an array; empty: a scalar
  void write_attribute(const std::string& object, const char* name, hid_t type,
                       std::optional<hsize_t> size, hid_t memory_type, const void* values) const;
  struct Attribute {
    Handle handle, type;
    hssize_t values;
  };
  /// Nothing if there is none.
  std::optional<Attribute> attribute(const std::string& object, const char* name,
                                     const std::string& action) const;

  std::string path_;
  Handle file_;
  bool has_writer_ = false;
};

}  // namespace tarn::io::hdf5
