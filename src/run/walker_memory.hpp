#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tarn/observer.hpp"

namespace tarn {

/// Counts how often the walkers of replica exchange return to the lowest temperature with other
/// neighbours. A walker that returns with the neighbours that it had remembers its start, however
/// often it was at the highest temperature. Writes no file.
class WalkerMemory final : public Observer {
 public:
  /// @param temperatures number of replicas in a ladder, the first of which is the coldest
  /// @param every a multiple of the interval of exchange
  /// @param walker_at walker in a replica
  WalkerMemory(std::size_t temperatures, int replicas, int molecules, std::int64_t every,
               std::function<std::int64_t(std::int64_t replica)> walker_at);

  std::string name() const override;
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override { return every_; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {}
  /// Nothing for fewer than four molecules, which are all neighbours.
  std::optional<StructureChanges> structure_changes() const override;

 private:
  std::size_t temperatures_, molecules_, words_;
  std::int64_t every_;
  std::function<std::int64_t(std::int64_t)> walker_at_;
  std::vector<std::uint64_t> neighbours_;  ///< [walker][word] bits of pairs, at the last visit
  std::vector<std::int64_t> visited_;      ///< [walker] 1 after a visit of the lowest temperature
  std::int64_t changes_ = 0;
};

}  // namespace tarn
