#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// @file
/// Values as words of eight bytes, for messages between processes of the same program.

namespace tarn {

using Words = std::vector<std::uint64_t>;

/// Appends values to a message.
class Packer {
 public:
  explicit Packer(Words& words) : words_(words) {}

  template <class T>
  Packer& put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(values.size(), values.data(), values.size_bytes());
    return *this;
  }
  template <class T>
  Packer& put(const std::vector<T>& values) {
    return put(std::span<const T>(values));
  }
  Packer& put(const std::string& text) { return put(std::span<const char>(text)); }
  template <class T>
  requires std::is_trivially_copyable_v<T> Packer& put(const T& value) {
    return put(std::span<const T>(&value, 1));
  }

 private:
  void append(std::size_t size, const void* values, std::size_t bytes) {
    words_.push_back(size);
    const std::size_t begin = words_.size();
    words_.resize(begin + (bytes + 7) / 8);
    if (bytes > 0) std::memcpy(words_.data() + begin, values, bytes);
  }

  Words& words_;
};

/// Takes values from a message, in the order in which they were put. @throws std::logic_error for
/// another number of values
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::uint64_t> words) : words_(words) {}

  template <class T>
  Unpacker& take(std::vector<T>& values) {
    values.resize(take_size(sizeof(T)));
    return copy(values.data(), values.size() * sizeof(T));
  }
  Unpacker& take(std::string& text) {
    text.resize(take_size(1));
    return copy(text.data(), text.size());
  }
  template <class T>
  requires std::is_trivially_copyable_v<T> Unpacker& take(T& value) {
    if (take_size(sizeof(T)) != 1) throw std::logic_error("a message with other values");
    return copy(&value, sizeof(T));
  }
  template <class T>
  T take() {
    T value{};
    take(value);
    return value;
  }
  bool is_empty() const { return words_.empty(); }

 private:
  std::size_t take_size(std::size_t bytes_of_value) {
    if (words_.empty()) throw std::logic_error("a message with fewer values");
    const std::size_t size = words_.front();
    words_ = words_.subspan(1);
    if ((size * bytes_of_value + 7) / 8 > words_.size()) {
      throw std::logic_error("a message with fewer values");
    }
    return size;
  }
  Unpacker& copy(void* to, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, words_.data(), bytes);
    words_ = words_.subspan((bytes + 7) / 8);
    return *this;
  }

  std::span<const std::uint64_t> words_;
};

}  // namespace tarn
