#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/analysis/blocking.hpp"
#include "tarn/analysis/multi_histogram.hpp"
#include "tarn/deck.hpp"
#include "tarn/exchange.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Exchanges the states of replicas and reports acceptance and round trips. It is the only observer
/// that changes the state of the engine: it follows all observers that read a Frame and precedes
/// the checkpointer, which saves the exchanged states.
class ReplicaExchange final : public Observer {
 public:
  ReplicaExchange(const Deck& deck, const System& system, const RunInfo& info, Engine& engine);

  std::string name() const override;
  unsigned fields() const override {
    return has_rings() ? kExchangeEnergies | kRescaledEnergies : kExchangeEnergies + 0u;
  }
  void configure(MeasureSettings& settings) const override { settings.exchange_every = every_; }
  std::int64_t every() const override { return every_; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
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
  /// Statistics of the neighbours k and k + 1 of all ladders.
  struct Pair {
    std::int64_t attempts = 0, accepted = 0;
    analysis::PooledBlocking probability;
  };
  /// End of the ladder that a walker visited last.
  enum class End : std::int64_t { none, bottom, top_after_bottom };

  std::size_t length() const { return temperatures_K_.size(); }
  bool has_rings() const { return system_.path_integral.beads > 1; }
  void change_places(const ExchangeAttempt& attempt);
  void count_round_trips();
  double round_trips_per_state() const {
    return static_cast<double>(round_trips_) / static_cast<double>(walker_at_.size());
  }
  /// Records the baths of the walkers of the first ladder, at most 1024 times at equal intervals.
  void note_paths();
  void find_equal_acceptance_ladder();
  void write_pairs() const;
  void write_paths() const;

  System system_;
  std::int64_t every_;
  RunInfo info_;
  Engine& engine_;
  std::vector<double> temperatures_K_;
  std::vector<Pair> pairs_;
  analysis::MultiHistogram energies_;                      ///< sampled at the attempts
  std::vector<analysis::MultiHistogram::Sample> samples_;  ///< of the last attempt
  std::optional<analysis::EqualAcceptanceLadder> even_;
  /// A walker is a state that moves between replicas; walker w started as replica w.
  std::vector<std::int64_t> walker_at_;  ///< [replica id]
  std::vector<std::int64_t> last_end_;   ///< [walker], End
  std::int64_t round_trips_ = 0, last_step_ = 0;
  std::int64_t attempts_between_ = 1;  ///< attempts per recorded point of the paths
  std::vector<std::int64_t> paths_;    ///< [point]: step, then the bath index of each walker
};

}  // namespace tarn
