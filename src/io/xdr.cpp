#include "xdr.hpp"

#include <bit>
#include <cerrno>

#include <fmt/format.h>

#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

void put_bits(std::string& out, std::uint64_t bits, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>((bits >> (8 * i)) & 0xff);
}

std::uint64_t bits_of(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (const char c : bytes) bits = bits << 8 | static_cast<unsigned char>(c);
  return bits;
}

std::int32_t i32_of(std::string_view bytes) { return static_cast<std::int32_t>(bits_of(bytes)); }

/// A floating-point number of four or eight bytes.
double real_of(std::string_view bytes) {
  const std::uint64_t bits = bits_of(bytes);
  if (bytes.size() == sizeof(double)) return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

}  // namespace

void put_xdr(std::string& out, std::int32_t value) {
  put_bits(out, static_cast<std::uint32_t>(value), 4);
}
void put_xdr(std::string& out, float value) {
  put_bits(out, std::bit_cast<std::uint32_t>(value), 4);
}
void put_xdr(std::string& out, double value) {
  put_bits(out, std::bit_cast<std::uint64_t>(value), 8);
}
void pad_xdr(std::string& out) {
  while (out.size() % 4 != 0) out += '\0';
}

std::int32_t first_xdr_number(std::string_view beginning) {
  return beginning.size() < 4 ? 0 : i32_of(beginning.substr(0, 4));
}

XdrInput::XdrInput(const std::string& path)
    : path_(path), stream_(readable_path(path), std::ios::binary) {
  if (!stream_) throw_io_error("read", path, errno);
  stream_.seekg(0, std::ios::end);
  left_ = stream_.tellg();
  if (left_ < 0) throw_io_error("read", path, errno);
  stream_.seekg(0);
}

bool XdrInput::begin_frame() {
  if (left_ == 0) return false;
  ++frame_;
  return true;
}

void XdrInput::fail(std::string_view why) const {
  throw InputError(path_, 0, fmt::format("{} in frame {} (counted from 0)", why, frame_));
}

void XdrInput::expect(std::int32_t magic, std::string_view format) {
  if (i32() == magic) {
    has_magic_ = true;
    return;
  }
  if (has_magic_) fail(fmt::format("the file is damaged: the number {} is missing", magic));
  throw InputError(
      path_, 0,
      fmt::format("not in {} format: the file does not begin with the number {}", format, magic));
}

void XdrInput::need(std::int64_t count) {
  if (count <= left_) return;
  is_cut_off_ = true;
  fail("the file is cut off or damaged");
}

std::int32_t XdrInput::i32() { return i32_of(bytes(4)); }

double XdrInput::real(std::size_t size) { return real_of(bytes(static_cast<std::int64_t>(size))); }

std::string XdrInput::bytes(std::int64_t count) {
  if (count < 0) fail("the file is damaged: a length is negative");
  const std::int64_t padded = (count + 3) / 4 * 4;
  need(padded);
  std::string block(static_cast<std::size_t>(padded), '\0');
  stream_.read(block.data(), static_cast<std::streamsize>(padded));
  if (stream_.bad()) throw_io_error("read", path_, errno);
  if (!stream_) {  // the file was truncated after it was opened
    left_ = 0;
    need(padded);
  }
  left_ -= padded;
  block.resize(static_cast<std::size_t>(count));
  return block;
}

std::vector<double> XdrInput::reals(std::int64_t count, std::size_t bytes_of_each, double unit) {
  const std::string block = bytes(count * static_cast<std::int64_t>(bytes_of_each));
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = real_of(std::string_view(block).substr(i * bytes_of_each, bytes_of_each));
    values[i] = unit * value;
  }
  return values;
}

}  // namespace tarn::io
