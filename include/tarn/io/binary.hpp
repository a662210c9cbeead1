#pragma once

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
std::vector<double> get_doubles(std::istream& in);
std::vector<float> get_floats(std::istream& in);
std::vector<std::int64_t> get_i64s(std::istream& in);
std::vector<std::uint64_t> get_u64s(std::istream& in);
/// The same for a known number of values. @throws LayoutError for a different number
std::vector<double> get_doubles(std::istream& in, std::size_t count);
std::vector<std::int64_t> get_i64s(std::istream& in, std::size_t count);
std::vector<std::uint64_t> get_u64s(std::istream& in, std::size_t count);

/// 64-bit FNV-1a hash. Detects accidental damage, not deliberate changes.
std::uint64_t checksum(std::string_view bytes);

}  // namespace tarn::io
