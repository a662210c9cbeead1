#pragma once

#include <cstdint>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Writes final.xyz when the run ends: positions as the scheme has them, and velocities without
/// what moves nothing.
class FinalStructures final : public Observer {
 public:
  FinalStructures(const Deck& deck, const RunInfo& info, Engine& engine);

  std::string name() const override;
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return kLastStepOnly; }
  void begin() override {}
  void observe(const Frame& /*frame*/) override {}
  void save(std::ostream& /*out*/) override {}
  /// Removes what the run wrote when it ended before: its replicas may now be stopped.
  void load(std::istream& in) override;
  void finish() override;

 private:
  std::string path_of(std::int64_t replica) const;

  std::string model_;
  double push_fs2_;
  RunInfo info_;
  Engine& engine_;
  std::int64_t replicas_;  ///< that are written, from 0 on
};

}  // namespace tarn
