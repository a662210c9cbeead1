#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "paths.hpp"
#include "tarn/io/atomic_file.hpp"
#include "water_atoms.hpp"

/// @file
/// External data representation (RFC 4506), of which the trajectories of GROMACS are made: numbers
/// of four or eight bytes, the most significant one first. Atoms have no names in them.

namespace tarn::io {

/// @param value std::int32_t, float or double
template <class T>
void put_xdr(std::string& out, T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const auto bits = std::bit_cast<Bits>(value);
  for (int i = sizeof(T) - 1; i >= 0; --i) out += static_cast<char>((bits >> (8 * i)) & 0xff);
}
/// Pads to the next multiple of four bytes.
inline void pad_xdr(std::string& out) { out.resize((out.size() + 3) / 4 * 4); }

inline std::uint64_t xdr_bits(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (const char c : bytes) bits = bits << 8 | static_cast<unsigned char>(c);
  return bits;
}
/// The first number of a file; 0 if there is none.
inline std::int32_t first_xdr_number(std::string_view beginning) {
  return beginning.size() < 4 ? 0 : static_cast<std::int32_t>(xdr_bits(beginning.substr(0, 4)));
}

/// A reader of frames number by number. Errors contain the number of the current frame.
class XdrReader : public FrameReader {
 public:
  /// @throws IoError
  explicit XdrReader(const std::string& path)
      : path_(path), stream_(readable_path(path), std::ios::binary) {
    if (stream_) stream_.seekg(0, std::ios::end);
    left_ = stream_ ? static_cast<std::int64_t>(stream_.tellg()) : -1;
    if (left_ < 0) throw_io_error("read", path, errno);
    stream_.seekg(0);
  }

  bool is_cut_off() const override { return is_cut_off_; }
  const std::string& path() const override { return path_; }

 protected:
  bool at_end() const { return left_ == 0; }

  // All below: @throws InputError for a truncated or damaged file
  /// Reads the magic number of a frame. @param format name of the format
  void expect(std::int32_t magic, std::string_view format) {
    if (i32() == magic) {
      has_magic_ = true;
      return;
    }
    if (has_magic_) fail(fmt::format("the file is damaged: the number {} is missing", magic));
    throw InputError(
        path_, 0,
        fmt::format("not in {} format: the file does not begin with the number {}", format, magic));
  }
  std::int32_t i32() { return static_cast<std::int32_t>(xdr_bits(bytes(4))); }
  /// A real of four or eight bytes.
  double real(std::size_t bytes_of_it) { return reals(1, bytes_of_it, 1.0)[0]; }
  /// Reads `count` bytes and their padding to a multiple of four, never more than the file has.
  std::string bytes(std::int64_t count) {
    if (count < 0) fail("the file is damaged: a length is negative");
    const std::int64_t padded = (count + 3) / 4 * 4;
    std::string block(static_cast<std::size_t>(padded <= left_ ? padded : 0), '\0');
    stream_.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (stream_.bad()) throw_io_error("read", path_, errno);
    if (padded > left_ || !stream_) {  // or the file was truncated after it was opened
      is_cut_off_ = true;
      fail("the file is cut off or damaged");
    }
    left_ -= padded;
    block.resize(static_cast<std::size_t>(count));
    return block;
  }
  /// Reads `count` reals, each times `unit`; they may be infinite or NaN.
  std::vector<double> reals(std::int64_t count, std::size_t bytes_of_each, double unit) {
    const std::string block = bytes(count * static_cast<std::int64_t>(bytes_of_each));
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto part = std::string_view(block).substr(i * bytes_of_each, bytes_of_each);
      const std::uint64_t bits = xdr_bits(part);
      const double value = bytes_of_each == sizeof(double)
                               ? std::bit_cast<double>(bits)
                               : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      values[i] = unit * value;
    }
    return values;
  }
  /// Reads the box vectors. @return whether there is a box; those of clusters are zero
  bool read_box(std::size_t bytes_of_each) {
    return std::ranges::any_of(reals(9, bytes_of_each, 1.0), [](double nm) { return nm != 0.0; });
  }
  /// The frame, after all of it was read. @param time_ps as text
  Structure take(std::vector<double> positions_A, std::vector<double> velocities_A_per_akma,
                 bool has_box, std::int64_t step, std::string time_ps) {
    Structure structure =
        water_.take(path_, frame_, std::move(positions_A), std::move(velocities_A_per_akma));
    structure.has_box = has_box;
    structure.comment = {{"step", fmt::to_string(step)}, {"time_ps", std::move(time_ps)}};
    ++frame_;
    return structure;
  }
  /// @param why for example "the file is damaged"; the frame number is added
  [[noreturn]] void fail(std::string_view why) const {
    throw InputError(path_, 0, fmt::format("{} in frame {} (counted from 0)", why, frame_));
  }

  std::int64_t frame_ = 0;  ///< number of the current frame, counted from 0

 private:
  std::string path_;
  std::ifstream stream_;
  std::int64_t left_ = 0;  ///< bytes of the file
  bool is_cut_off_ = false;
  bool has_magic_ = false;  ///< at least one frame began correctly
  UnnamedWater water_;
};

}  // namespace tarn::io
