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

/// Lets replicas change places, and tells how well they do. Of the observers it is the only one
/// that changes what the engine holds: it stands after those that look at a Frame and before the
/// checkpointer, which writes what came of it.
class ReplicaExchange final : public Observer {
 public:
  ReplicaExchange(const Deck& deck, const System& system, const RunInfo& info, Engine& engine);

  std::string name() const override;
  unsigned fields() const override { return kEnergies; }
  std::int64_t every() const override { return every_; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override;
  /// Acceptance of each pair of neighbours, at the bath of the lower one.
  std::vector<AveragedQuantity> averages() const override;
  Pictures draw() override;

  /// Counts since the end of the equilibration.
  ExchangeSummary summary() const;
  /// The same as summary().has_mixed(), from counts alone.
  bool has_mixed() const { return round_trips_per_state() >= ExchangeSummary::kEnoughRoundTrips; }
  /// The state that a replica has: that which replica w began with is walker w.
  std::int64_t walker_at(std::int64_t replica) const {
    return walker_at_[static_cast<std::size_t>(replica)];
  }

 private:
  /// Of the neighbours k, k + 1 of all ladders.
  struct Pair {
    std::int64_t attempts = 0, accepted = 0;
    analysis::PooledBlocking probability;
  };
  /// Where a walker was last, of the ends of its ladder.
  enum class End : std::int64_t { none, bottom, top_after_bottom };

  std::size_t length() const { return temperatures_K_.size(); }
  void change_places(const ExchangeAttempt& attempt);
  void count_round_trips();
  double round_trips_per_state() const {
    return static_cast<double>(round_trips_) / static_cast<double>(walker_at_.size());
  }
  /// Notes where the walkers of the first ladder are, at most 1024 times, evenly.
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
  analysis::MultiHistogram energies_;  ///< at the attempts
  std::optional<analysis::EqualAcceptanceLadder> even_;
  /// A walker is a state on its way: that which replica w began with is walker w.
  std::vector<std::int64_t> walker_at_;  ///< [replica id]
  std::vector<std::int64_t> last_end_;   ///< [walker], End
  std::int64_t round_trips_ = 0, last_step_ = 0;
  std::int64_t attempts_between_ = 1;  ///< points of the paths
  std::vector<std::int64_t> paths_;    ///< step, then the place of each walker; and so on
};

}  // namespace tarn
