#pragma once

#include <cstdint>

#include "tarn/observer.hpp"

namespace tarn {

/// Base of observers that write no files and need no frames: they only store state in checkpoints.
class CheckpointOnlyObserver : public Observer {
 public:
  unsigned fields() const final { return kNoFields; }
  std::int64_t every() const final { return kLastStepOnly; }
  void begin() final {}
  void observe(const Frame& /*frame*/) final {}
  void finish() final {}
};

}  // namespace tarn
