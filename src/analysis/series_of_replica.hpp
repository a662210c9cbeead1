#pragma once

#include <cstddef>
#include <cstdint>

#include "tarn/core/replica_map.hpp"

namespace tarn::analysis {

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
