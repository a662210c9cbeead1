#include "tarn/io/binary.hpp"

#include <array>
#include <bit>
#include <istream>
#include <ostream>

#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

constexpr int kBytes = 8;

template <class T>
void put_bytes(std::ostream& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  }
  out.write(bytes.data(), sizeof(T));
}

template <class T>
void put_all(std::ostream& out, std::span<const T> values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  for (const T value : values) put(out, value);
}

[[noreturn]] void throw_short() { throw LayoutError("the data end too early"); }

template <class T>
T get_bytes(std::istream& in) {
  std::array<char, sizeof(T)> bytes{};
  if (!in.read(bytes.data(), sizeof(T))) throw_short();
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

/// Reads the number of items of `size` bytes each. The check against the rest of the stream
/// prevents a wrong count from requesting too much memory.
std::size_t get_count(std::istream& in, std::size_t size) {
  const std::uint64_t count = get_u64(in);
  const std::istream::pos_type here = in.tellg();
  in.seekg(0, std::ios::end);
  const auto left = static_cast<std::uint64_t>(in.tellg() - here);
  in.seekg(here);
  if (!in || count > left / size) throw_short();
  return static_cast<std::size_t>(count);
}

template <class T>
std::vector<T> get_all(std::istream& in, T (*get)(std::istream&)) {
  std::vector<T> values(get_count(in, kBytes));
  for (T& value : values) value = get(in);
  return values;
}

template <class T>
std::vector<T> counted(std::vector<T> values, std::size_t count) {
  if (values.size() == count) return values;
  throw LayoutError(std::to_string(values.size()) + " values instead of " + std::to_string(count));
}

}  // namespace

void put(std::ostream& out, std::uint64_t value) { put_bytes(out, value); }
void put(std::ostream& out, std::int64_t value) { put(out, static_cast<std::uint64_t>(value)); }
void put(std::ostream& out, double value) { put(out, std::bit_cast<std::uint64_t>(value)); }
void put(std::ostream& out, std::string_view text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}
void put(std::ostream& out, std::span<const double> values) { put_all(out, values); }
void put(std::ostream& out, std::span<const float> values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  for (const float value : values) put_bytes(out, std::bit_cast<std::uint32_t>(value));
}
void put(std::ostream& out, std::span<const std::int64_t> values) { put_all(out, values); }
void put(std::ostream& out, std::span<const std::uint64_t> values) { put_all(out, values); }

std::uint64_t get_u64(std::istream& in) { return get_bytes<std::uint64_t>(in); }
std::int64_t get_i64(std::istream& in) { return static_cast<std::int64_t>(get_u64(in)); }
double get_double(std::istream& in) { return std::bit_cast<double>(get_u64(in)); }
std::string get_string(std::istream& in) {
  std::string text(get_count(in, 1), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) throw_short();
  return text;
}
std::vector<double> get_doubles(std::istream& in) { return get_all(in, get_double); }
std::vector<float> get_floats(std::istream& in) {
  std::vector<float> values(get_count(in, sizeof(float)));
  for (float& value : values) value = std::bit_cast<float>(get_bytes<std::uint32_t>(in));
  return values;
}
std::vector<std::int64_t> get_i64s(std::istream& in) { return get_all(in, get_i64); }
std::vector<std::uint64_t> get_u64s(std::istream& in) { return get_all(in, get_u64); }

std::vector<double> get_doubles(std::istream& in, std::size_t count) {
  return counted(get_doubles(in), count);
}
std::vector<std::int64_t> get_i64s(std::istream& in, std::size_t count) {
  return counted(get_i64s(in), count);
}
std::vector<std::uint64_t> get_u64s(std::istream& in, std::size_t count) {
  return counted(get_u64s(in), count);
}

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace tarn::io
