#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tarn/core/error.hpp"
#include "tarn/core/replica_map.hpp"

namespace tarn::analysis {

/// Reads the numbers of a memory() in order.
class MemoryReader {
 public:
  explicit MemoryReader(std::span<const double> numbers) : numbers_(numbers) {}

  bool empty() const { return numbers_.empty(); }

  /// @throws LayoutError if there are fewer
  std::span<const double> take(std::size_t count) {
    if (count > numbers_.size()) throw_other_layout();
    const std::span<const double> taken = numbers_.first(count);
    numbers_ = numbers_.subspan(count);
    return taken;
  }
  double number() { return take(1).front(); }
  /// @throws LayoutError unless it holds
  static void require(bool holds) {
    if (!holds) throw_other_layout();
  }
  /// Number of items of at least one number each. @throws LayoutError for an impossible count
  std::size_t count() {
    const double value = number();
    if (!(value >= 0.0 && value <= static_cast<double>(numbers_.size()))) throw_other_layout();
    return static_cast<std::size_t>(value);
  }

 private:
  [[noreturn]] static void throw_other_layout() {
    throw LayoutError("a mean has the wrong amount of data");
  }

  std::span<const double> numbers_;
};

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
