#include "tarn/io/binary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <istream>
#include <ostream>
#include <type_traits>

#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

/// Unsigned integer of the same size.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
void put_bytes(std::ostream& out, T value) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  }
  out.write(bytes.data(), sizeof(T));
}

/// Whether numbers in memory have the bytes of the file.
constexpr bool kSameBytes = std::endian::native == std::endian::little;

template <class T>
void put_all(std::ostream& out, std::span<const T> values) {
  put(out, static_cast<std::uint64_t>(values.size()));
  if constexpr (kSameBytes) {
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
  } else {
    for (const T value : values) put_bytes(out, std::bit_cast<BitsOf<T>>(value));
  }
}

template <class T>
T little_endian_at(const char* bytes) {
  T value = 0;
  if constexpr (kSameBytes) {
    std::memcpy(&value, bytes, sizeof(T));
  } else {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
  }
  return value;
}

[[noreturn]] void throw_short() { throw LayoutError("the data end too early"); }

template <class T>
T get_bytes(std::istream& in) {
  std::array<char, sizeof(T)> bytes{};
  if (!in.read(bytes.data(), sizeof(T))) throw_short();
  return little_endian_at<T>(bytes.data());
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

constexpr std::uint64_t kPrime1 = 0x9e3779b185ebca87u, kPrime2 = 0xc2b2ae3d27d4eb4fu,
                        kPrime3 = 0x165667b19e3779f9u, kPrime4 = 0x85ebca77c2b2ae63u,
                        kPrime5 = 0x27d4eb2f165667c5u;

constexpr std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  return std::rotl(sum + word * kPrime2, 31) * kPrime1;
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
void put(std::ostream& out, std::span<const float> values) { put_all(out, values); }
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
template <class T>
std::vector<T> get_all(std::istream& in) {
  std::vector<T> values(get_count(in, sizeof(T)));
  if constexpr (kSameBytes) {
    if (!in.read(reinterpret_cast<char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(T)))) {
      throw_short();
    }
  } else {
    for (T& value : values) value = std::bit_cast<T>(get_bytes<BitsOf<T>>(in));
  }
  return values;
}
template std::vector<double> get_all(std::istream&);
template std::vector<float> get_all(std::istream&);
template std::vector<std::int64_t> get_all(std::istream&);
template std::vector<std::uint64_t> get_all(std::istream&);

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

LongChecksum::LongChecksum() : sums_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void LongChecksum::add_stripes(const char* bytes, std::size_t stripes) {
  std::array<std::uint64_t, 4> sums = sums_;
  for (; stripes > 0; --stripes, bytes += kStripe) {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      sums[k] = mixed(sums[k], little_endian_at<std::uint64_t>(bytes + 8 * k));
    }
  }
  sums_ = sums;
}

void LongChecksum::add(std::string_view bytes) {
  const std::size_t waiting = length_ % kStripe;
  length_ += bytes.size();
  if (waiting > 0) {
    const std::size_t taken = std::min(bytes.size(), kStripe - waiting);
    std::copy_n(bytes.begin(), taken, rest_.begin() + waiting);
    if (waiting + taken < kStripe) return;
    add_stripes(rest_.data(), 1);
    bytes.remove_prefix(taken);
  }
  const std::size_t whole = bytes.size() / kStripe;
  add_stripes(bytes.data(), whole);
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(whole * kStripe), bytes.end(),
            rest_.begin());
}

std::uint64_t LongChecksum::value() const {
  std::uint64_t hash = kPrime5;
  if (length_ >= kStripe) {
    hash = std::rotl(sums_[0], 1) + std::rotl(sums_[1], 7) + std::rotl(sums_[2], 12) +
           std::rotl(sums_[3], 18);
    for (const std::uint64_t sum : sums_) hash = (hash ^ mixed(0, sum)) * kPrime1 + kPrime4;
  }
  hash += length_;
  const char* at = rest_.data();
  std::size_t left = length_ % kStripe;
  for (; left >= 8; left -= 8, at += 8) {
    hash ^= mixed(0, little_endian_at<std::uint64_t>(at));
    hash = std::rotl(hash, 27) * kPrime1 + kPrime4;
  }
  if (left >= 4) {
    hash ^= little_endian_at<std::uint32_t>(at) * kPrime1;
    hash = std::rotl(hash, 23) * kPrime2 + kPrime3;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) {
    hash ^= static_cast<unsigned char>(*at) * kPrime5;
    hash = std::rotl(hash, 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace tarn::io
