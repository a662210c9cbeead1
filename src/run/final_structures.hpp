#pragma once

#include <cstdint>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Writes final.xyz at the end of a run: the scheme's own positions, and velocities without the
/// components that do not move atoms.
class FinalStructures final : public Observer {
 public:
  FinalStructures(const Deck& deck, const RunInfo& info, Engine& engine);

  std::string name() const override;
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return kLastStepOnly; }
  void begin() override {}
  void observe(const Frame& /*frame*/) override {}
  void save(std::ostream& /*out*/) override {}
  /// Removes files from before the restart: their replicas may be stopped by now.
  void load(std::istream& in) override;
  void finish() override;

 private:
  std::string path_of(std::int64_t replica) const;

  std::string model_;
  double push_fs2_;
  RunInfo info_;
  Engine& engine_;
  std::int64_t replicas_;  ///< number of replicas written, from 0
};

}  // namespace tarn
