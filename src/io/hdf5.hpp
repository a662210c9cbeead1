#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hdf5.h>

/// @file
/// What tarn needs of the HDF5 library, with errors as IoError and without anything on the
/// terminal.

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

  hid_t id() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  /// Negative when the library fails at it.
  herr_t close() { return is_open() ? close_(std::exchange(id_, H5I_INVALID_HID)) : 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// An open file.
class File {
 public:
  enum class Mode { create, change, append, read };

  /// @param mode create: a new file, in the format that SWMR needs; change: takes the mark of a
  ///        killed writer off; append: as the single writer of SWMR, which may only add to
  ///        datasets; read: also what a living or killed writer has open
  /// @throws IoError
  File(std::string path, Mode mode);

  /// Whether a file begins as HDF5 files do, in front or behind a user block.
  static bool is_hdf5(const std::string& path);

  const std::string& path() const { return path_; }
  /// Of a file that is read: whether a writer has it open, or had it when it was killed.
  bool has_writer() const { return has_writer_; }
  /// Writes everything to the file. @throws IoError
  void flush() const;
  /// @throws IoError
  void close();

  /// @throws IoError naming what was tried, if the library returned an error
  template <class T>
  T checked(T result, std::string_view action) const {
    if (result < 0) fail(action);
    return result;
  }

  /// All with full names from the root. @throws IoError
  bool has(const std::string& name) const;
  void make_group(const std::string& name) const;
  /// Another name for a dataset.
  void link(const std::string& dataset, const std::string& name) const;
  Handle open(const std::string& name) const;
  std::vector<std::string> names_in(const std::string& group) const;

  void set_attribute(const std::string& object, const char* name, std::string_view text) const;
  void set_attribute(const std::string& object, const char* name,
                     const std::vector<std::string>& texts) const;
  void set_attribute(const std::string& object, const char* name,
                     const std::vector<int>& numbers) const;
  void set_attribute(const std::string& object, const char* name, double number) const;
  /// Empty where there is none.
  std::string text_attribute(const std::string& object, const char* name) const;
  /// Nothing where there is none, or no single number.
  std::optional<double> number_attribute(const std::string& object, const char* name) const;
  /// All of an array of a few.
  std::vector<std::string> text_attributes(const std::string& object, const char* name) const;

  std::vector<hsize_t> shape_of(const std::string& dataset) const;
  void make_numbers(const std::string& name, const std::vector<int>& values) const;
  /// An empty dataset that grows along its first dimension. @param row shape of one row
  void make_growing(const std::string& name, hid_t type, const std::vector<hsize_t>& row,
                    hsize_t rows_in_chunk) const;
  /// Changes the number of rows.
  void resize(const std::string& name, hsize_t rows) const;
  /// Adds rows at the end of a dataset of an open group.
  void append(const Handle& group, const char* name, hid_t memory_type, const void* values,
              hsize_t rows) const;
  /// Reads rows, converted to the type in memory; of a scalar, the one value.
  void read(const std::string& name, hid_t memory_type, void* values, hsize_t first,
            hsize_t rows) const;

 private:
  [[noreturn]] void fail(std::string_view action) const;
  std::vector<hsize_t> shape_of(const Handle& dataset, const std::string& name) const;
  bool has_attribute(const std::string& object, const char* name, const std::string& action) const;
  Handle open_attribute(const std::string& object, const char* name,
                        const std::string& action) const;

  std::string path_;
  Handle file_;
  bool has_writer_ = false;
};

}  // namespace tarn::io::hdf5
