#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Little-endian binary values on streams, the same bytes on every machine.

namespace tarn::io {

void put(std::ostream& out, std::uint64_t value);
void put(std::ostream& out, std::int64_t value);
void put(std::ostream& out, double value);
/// Length, then the bytes.
void put(std::ostream& out, std::string_view text);
/// Length, then the values.
void put(std::ostream& out, std::span<const double> values);
void put(std::ostream& out, std::span<const float> values);
void put(std::ostream& out, std::span<const std::int64_t> values);
void put(std::ostream& out, std::span<const std::uint64_t> values);

/// The inverse of put(). @throws LayoutError when the stream ends too early
std::uint64_t get_u64(std::istream& in);
std::int64_t get_i64(std::istream& in);
double get_double(std::istream& in);
std::string get_string(std::istream& in);
std::vector<double> get_doubles(std::istream& in);
std::vector<float> get_floats(std::istream& in);
std::vector<std::int64_t> get_i64s(std::istream& in);
std::vector<std::uint64_t> get_u64s(std::istream& in);
/// The same, of so many values. @throws LayoutError for another number of them
std::vector<double> get_doubles(std::istream& in, std::size_t count);
std::vector<std::int64_t> get_i64s(std::istream& in, std::size_t count);
std::vector<std::uint64_t> get_u64s(std::istream& in, std::size_t count);

/// 64-bit FNV-1a hash: finds damage, is no protection against intent.
std::uint64_t checksum(std::string_view bytes);

}  // namespace tarn::io
