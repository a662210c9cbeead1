#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// External data representation (RFC 4506), of which the trajectories of GROMACS are made: numbers
/// of four or eight bytes, the most significant one first. Atoms have no names in them.

namespace tarn::io {

void put_xdr(std::string& out, std::int32_t value);
void put_xdr(std::string& out, float value);
void put_xdr(std::string& out, double value);
/// Pads to the next multiple of four bytes.
void pad_xdr(std::string& out);

/// The first number of a file; 0 if there is none.
std::int32_t first_xdr_number(std::string_view beginning);

/// Reads the frames of a file number by number.
class XdrInput {
 public:
  /// @throws IoError
  explicit XdrInput(const std::string& path);

  /// Begins the next frame; later errors contain its number. @return false at the end of the file
  bool begin_frame();
  /// Number of the current frame, counted from 0.
  std::int64_t frame() const { return frame_; }
  /// Number of frames begun.
  std::int64_t frames() const { return frame_ + 1; }
  /// Excludes the last frame from the count.
  void pass_over() { --frame_; }

  // All below: @throws InputError for a truncated or damaged file
  /// Reads the magic number of a frame. @param format name of the format
  void expect(std::int32_t magic, std::string_view format);
  std::int32_t i32();
  /// A real of four or eight bytes.
  double real(std::size_t bytes);
  /// Reads `count` bytes and their padding to a multiple of four, never more than the file has.
  std::string bytes(std::int64_t count);
  /// Reads `count` reals, each times `unit`; they may be infinite or NaN.
  std::vector<double> reals(std::int64_t count, std::size_t bytes_of_each, double unit);

  /// Whether the file ended within a frame.
  bool is_cut_off() const { return is_cut_off_; }
  const std::string& path() const { return path_; }
  /// @param why for example "the file is damaged"; the frame number is added
  [[noreturn]] void fail(std::string_view why) const;

 private:
  void need(std::int64_t count);

  std::string path_;
  std::ifstream stream_;
  std::int64_t left_ = 0;  ///< bytes of the file
  std::int64_t frame_ = -1;
  bool is_cut_off_ = false;
  bool has_magic_ = false;  ///< at least one frame began correctly
};

}  // namespace tarn::io
