#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/blocking.hpp"
#include "io/archive.hpp"
#include "tarn/analysis/multi_histogram.hpp"
#include "tarn/deck.hpp"
#include "tarn/exchange.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Exchanges the states of replicas and reports acceptance and round trips. It is the only observer
/// that changes the state of the engine: it follows all observers that read a Frame and precedes
/// the checkpointer, which saves the exchanged states.
class ReplicaExchange final : public ArchivedObserver {
 public:
  ReplicaExchange(const Deck& deck, const System& system, const RunInfo& info, Engine& engine);

  std::string name() const override;
  unsigned fields() const override {
    if (windows_of(system_) != nullptr) return kEnergies;
    return has_rings() ? kExchangeEnergies | kRescaledEnergies : kExchangeEnergies + 0u;
  }
  void configure(MeasureSettings& settings) const override { settings.exchange_every = every_; }
  std::int64_t every() const override { return every_; }
  void observe(const Frame& frame) override;
  void finish() override;
  /// Acceptance of each pair of neighbours, listed under the lower bath.
  std::vector<AveragedQuantity> averages() const override;

  /// Results since the end of equilibration. The structure changes are round trips.
  ExchangeSummary summary() const;
  /// Walker in a replica; walker w started as replica w.
  std::int64_t walker_at(std::int64_t replica) const {
    return walker_at_[static_cast<std::size_t>(replica)];
  }

 private:
  void archive(io::Archive& a) override {
    a.fixed(pairs_, walker_at_, last_end_);
    a(energies_, round_trips_, last_step_, attempts_between_, paths_);
  }

  /// Statistics of the neighbours k and k + 1 of all ladders.
  struct Pair {
    std::int64_t attempts = 0, accepted = 0;
    analysis::PooledBlocking probability;

    void archive(io::Archive& a) { a(attempts, accepted, probability); }
  };
  /// End of the ladder that a walker visited last.
  static constexpr std::int64_t kNoEnd = 0, kBottom = 1, kTopAfterBottom = 2;

  std::size_t length() const { return ladder_.size(); }
  bool has_windows() const { return windows_of(system_) != nullptr; }
  bool has_rings() const { return system_.path_integral.beads > 1; }
  void count_round_trips();
  /// Records the baths of the walkers of the first ladder, at most 1024 times at equal intervals.
  void note_paths();
  void write_pairs() const;
  void write_paths() const;

  System system_;
  std::int64_t every_;
  RunInfo info_;
  Engine& engine_;
  std::vector<double> ladder_;  ///< temperatures [K], or the centres of windows
  std::vector<Pair> pairs_;
  analysis::MultiHistogram energies_;                      ///< sampled at the attempts
  std::vector<analysis::MultiHistogram::Sample> samples_;  ///< of the last attempt
  std::optional<analysis::EqualAcceptanceLadder> even_;
  /// A walker is a state that moves between replicas; walker w started as replica w.
  std::vector<std::int64_t> walker_at_;  ///< [replica id]
  std::vector<std::int64_t> last_end_;   ///< [walker]
  std::int64_t round_trips_ = 0, last_step_ = 0;
  std::int64_t attempts_between_ = 1;  ///< attempts per recorded point of the paths
  std::vector<std::int64_t> paths_;    ///< [point]: step, then the bath index of each walker
};

/// Counts how often the walkers of replica exchange return to the lowest temperature with other
/// neighbours. A walker that returns with the neighbours that it had remembers its start, however
/// often it was at the highest temperature. Writes no file.
class WalkerMemory final : public ArchivedObserver {
 public:
  /// @param temperatures number of replicas in a ladder, the first of which is the coldest
  /// @param every a multiple of the interval of exchange
  /// @param walker_at walker in a replica
  WalkerMemory(std::size_t temperatures, int replicas, int molecules, std::int64_t every,
               std::function<std::int64_t(std::int64_t replica)> walker_at);

  std::string name() const override {
    return fmt::format("neighbours of walkers every {}", every_);
  }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override { return every_; }
  void observe(const Frame& frame) override;
  /// Nothing for fewer than four molecules, which are all neighbours.
  std::optional<StructureChanges> structure_changes() const override;

 private:
  void archive(io::Archive& a) override {
    a.fixed(neighbours_, visited_);
    a(changes_);
  }

  std::size_t temperatures_, molecules_, words_;
  std::int64_t every_;
  std::function<std::int64_t(std::int64_t)> walker_at_;
  std::vector<std::uint64_t> neighbours_;  ///< [walker][word] bits of pairs, at the last visit
  std::vector<std::int64_t> visited_;      ///< [walker] 1 after a visit of the lowest temperature
  std::int64_t changes_ = 0;
};

}  // namespace tarn
