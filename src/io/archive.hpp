#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/io/binary.hpp"
#include "tarn/observer.hpp"

namespace tarn {
namespace io {

/// Writes values to a checkpoint, or reads them in the same order: one function of an object
/// describes both directions.
class Archive {
 public:
  explicit Archive(std::ostream& out) : out_(&out) {}
  explicit Archive(std::istream& in) : in_(&in) {}

  bool is_reading() const { return in_ != nullptr; }
  /// The stream that is written, or read; the other one does not exist.
  std::ostream& out() const { return *out_; }
  std::istream& in() const { return *in_; }

  /// Numbers, each in 64 bits; texts; vectors of numbers, after their length; maps by replica id,
  /// after their size; files that grow, by their length; objects with memory() and restore(), or
  /// with archive(). @throws LayoutError if the stream ends too early
  template <class... T>
  void operator()(T&... values) {
    (item(values), ...);
  }
  /// Vectors whose size is known: of numbers, or of other values one by one.
  /// @throws LayoutError for another number of numbers
  template <class... V>
  void fixed(V&... vectors) {
    (fixed_item(vectors), ...);
  }
  /// Values after their number. @param archive_one writes or reads one of them
  template <class V, class F>
  void list(V& values, const F& archive_one) {
    std::uint64_t left = values.size();
    item(left);
    if (!is_reading()) return each(values, archive_one);
    values.clear();
    for (; left > 0; --left) archive_one(values.emplace_back());
  }
  /// @param make returns a new value
  template <class V, class F>
  void map(std::map<std::int64_t, V>& values, const F& make) {
    std::uint64_t left = values.size();
    item(left);
    if (is_reading()) values.clear();
    for (auto at = values.begin(); left > 0; --left) {
      std::int64_t id = is_reading() ? 0 : at->first;
      item(id);
      item(is_reading() ? values.try_emplace(id, make()).first->second : (at++)->second);
    }
  }

 private:
  template <class V, class F>
  static void each(V& values, const F& archive_one) {
    for (auto& value : values) archive_one(value);
  }
  template <class T>
  void item(T& value) {
    if constexpr (requires { value.archive(*this); }) {
      value.archive(*this);
    } else if constexpr (requires { value.memory(); }) {
      auto memory = value.memory();
      item(memory);
      if (is_reading()) value.restore(memory);
    } else if constexpr (requires { value.cut(0); }) {
      if (!is_reading()) value.sync();
      std::uint64_t length = is_reading() ? 0 : value.length();
      item(length);
      if (is_reading()) value.cut(length);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      if (is_reading())
        value = static_cast<T>(get_i64(*in_));
      else
        put(*out_, static_cast<std::int64_t>(value));
    } else {
      static_assert(std::is_same_v<T, double>);
      if (is_reading())
        value = get_double(*in_);
      else
        put(*out_, value);
    }
  }
  void item(std::string& text) {
    if (is_reading())
      text = get_string(*in_);
    else
      put(*out_, std::string_view(text));
  }
  template <class T>
  void item(std::vector<T>& numbers) {
    if (is_reading())
      numbers = get_all<T>(*in_);
    else
      put(*out_, std::span<const T>(numbers));
  }
  template <class V>
  void item(std::map<std::int64_t, V>& values) {
    map(values, [] { return V{}; });
  }
  template <class V>
  void fixed_item(V& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    if constexpr (std::is_arithmetic_v<T>) {
      std::vector<T> numbers(values.begin(), values.end());
      item(numbers);
      if (numbers.size() != values.size()) {
        throw LayoutError(std::to_string(numbers.size()) + " values instead of " +
                          std::to_string(values.size()));
      }
      std::copy(numbers.begin(), numbers.end(), values.begin());
    } else {
      each(values, [this](T& value) { item(value); });
    }
  }
  std::ostream* out_ = nullptr;
  std::istream* in_ = nullptr;
};

}  // namespace io

/// An observer whose state is written and read by one function.
class ArchivedObserver : public Observer {
 public:
  void save(std::ostream& out) final {
    io::Archive a(out);
    archive(a);
  }
  void load(std::istream& in) final {
    io::Archive a(in);
    archive(a);
  }

 private:
  virtual void archive(io::Archive& a) = 0;
};

}  // namespace tarn
