#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint_only_observer.hpp"
#include "tarn/core/message.hpp"
#include "tarn/start.hpp"

namespace tarn {

/// Stores the messages about the start in checkpoints, because a resumed run does not prepare a
/// start.
class StartRecord final : public CheckpointOnlyObserver {
 public:
  Messages messages;
  std::optional<SlowManifoldStart> slow;

  std::string name() const override { return "start"; }
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
};

}  // namespace tarn
