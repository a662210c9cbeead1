#pragma once

#include <optional>
#include <string>
#include <vector>

#include "silent_observer.hpp"
#include "tarn/start.hpp"

namespace tarn {

/// Keeps what was told of the start, which a resumed run does not make again.
class StartRecord final : public SilentObserver {
 public:
  std::vector<std::string> notes_of_start;
  std::optional<SlowManifoldStart> slow;

  std::string name() const override { return "start"; }
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
};

}  // namespace tarn
