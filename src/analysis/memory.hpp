#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"

namespace tarn::analysis {

/// The numbers of a memory(), which are written, or read in the same order: one function of an
/// object describes both directions.
class Memory {
 public:
  /// Writes.
  Memory() = default;
  /// Reads.
  explicit Memory(std::span<const double> numbers) : left_(numbers), is_reading_(true) {}

  const std::vector<double>& written() const { return written_; }

  /// Numbers, and ranges of a known size. @throws LayoutError if there are fewer numbers
  template <class... T>
  void operator()(T&... values) {
    (item(values), ...);
  }
  /// Values after their number. @param archive_one writes or reads one of them
  template <class V, class F>
  void list(V& values, const F& archive_one) {
    auto count = static_cast<double>(values.size());
    item(count);
    require(count >= 0.0 && (!is_reading_ || count <= static_cast<double>(left_.size())));
    values.resize(static_cast<std::size_t>(count));
    for (auto& value : values) archive_one(value);
  }
  /// Values up to the end.
  template <class V, class F>
  void rest(V& values, const F& archive_one) {
    if (is_reading_) values.clear();
    while (!left_.empty()) archive_one(values.emplace_back());
    for (std::size_t k = 0; !is_reading_ && k < values.size(); ++k) archive_one(values[k]);
  }
  /// @throws LayoutError unless it holds
  static void require(bool holds) {
    if (!holds) throw LayoutError("a mean has the wrong amount of data");
  }
  void require_end() const { require(left_.empty()); }

 private:
  template <class T>
  void item(T& value) {
    if constexpr (!std::is_arithmetic_v<T>) {
      for (auto& part : value) item(part);
    } else if (is_reading_) {
      require(!left_.empty());
      value = static_cast<T>(left_.front());
      left_ = left_.subspan(1);
    } else {
      written_.push_back(static_cast<double>(value));
    }
  }

  std::span<const double> left_;
  std::vector<double> written_;
  bool is_reading_ = false;
};

/// The state of an object with archive(Memory&), for a checkpoint.
template <class T>
std::vector<double> memory_of(const T& object) {
  Memory memory;
  const_cast<T&>(object).archive(memory);  // writing changes nothing
  return memory.written();
}
/// @throws LayoutError unless it is the memory_of() an object with the same arguments
template <class T>
void restore_from(std::span<const double> memory, T& object) {
  Memory reader(memory);
  object.archive(reader);
  reader.require_end();
}

/// The series of a replica, its number modulo that of the series. Numbers mostly come one after
/// another, which takes no division.
class SeriesOfReplica {
 public:
  explicit SeriesOfReplica(std::size_t series) : series_(series) {}

  std::size_t of(std::int64_t id) {
    if (id == last_ + 1) {
      at_ = at_ + 1 < series_ ? at_ + 1 : 0;
    } else {
      at_ = sample_group(id, series_);
    }
    last_ = id;
    return at_;
  }

 private:
  std::size_t series_, at_ = 0;
  std::int64_t last_ = -2;
};

}  // namespace tarn::analysis
