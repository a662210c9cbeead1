#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Little-endian binary values in streams; the bytes do not depend on the machine.

namespace tarn::io {

void put(std::ostream& out, std::uint64_t value);
void put(std::ostream& out, std::int64_t value);
void put(std::ostream& out, double value);
/// Writes the length, then the bytes.
void put(std::ostream& out, std::string_view text);
/// Writes the length, then the values.
void put(std::ostream& out, std::span<const double> values);
void put(std::ostream& out, std::span<const float> values);
void put(std::ostream& out, std::span<const std::int64_t> values);
void put(std::ostream& out, std::span<const std::uint64_t> values);

/// Inverse of put(). @throws LayoutError if the stream ends too early
std::uint64_t get_u64(std::istream& in);
std::int64_t get_i64(std::istream& in);
double get_double(std::istream& in);
std::string get_string(std::istream& in);
/// Vectors of double, float, std::int64_t or std::uint64_t.
template <class T>
std::vector<T> get_all(std::istream& in);

/// 64-bit FNV-1a hash. Detects accidental damage, not deliberate changes.
std::uint64_t checksum(std::string_view bytes);

/// 64-bit xxHash (XXH64, seed 0) of bytes that arrive in pieces, ten times as fast as checksum().
/// Detects accidental damage, not deliberate changes.
class LongChecksum {
 public:
  LongChecksum();
  void add(std::string_view bytes);
  /// Of all bytes so far.
  std::uint64_t value() const;

 private:
  static constexpr std::size_t kStripe = 32;  // bytes
  void add_stripes(const char* bytes, std::size_t stripes);

  std::array<std::uint64_t, 4> sums_;
  std::array<char, kStripe> rest_{};  // bytes after the last whole stripe
  std::uint64_t length_ = 0;
};

}  // namespace tarn::io
