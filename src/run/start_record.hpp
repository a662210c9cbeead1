#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tarn/observer.hpp"
#include "tarn/start.hpp"

namespace tarn {

/// Keeps in checkpoints what was told of the start, which a resumed run does not make again. Writes
/// no file.
class StartRecord final : public Observer {
 public:
  std::vector<std::string> notes_of_start;
  std::optional<SlowStart> slow;

  std::string name() const override { return "start"; }
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return kOnlyAtTheEnd; }
  void begin() override {}
  void observe(const Frame& /*frame*/) override {}
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {}
};

}  // namespace tarn
