#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tarn/observer.hpp"

namespace tarn {

/// A molecule that left its cluster.
struct Departure {
  std::int64_t replica = 0;  ///< replica id
  std::int64_t step = 0;     ///< at which it was noticed
  int molecule = 0;          ///< counts from 0
  /// The state that was there: with replica exchange it goes from replica to replica.
  std::int64_t walker = 0;
};

/// Which molecule, when, and the cure.
std::string describe(const Departure& departure);

/// The same of several, in one text: that of the first, and which other replicas follow it, the
/// first 20 of them by number.
/// @param departures at least one
std::string describe(const std::vector<Departure>& departures);

/// Looks from time to time whether clusters still hang together, and remembers the first departure
/// of each replica, or with exchange of each state. Writes no file.
class EvaporationWatch final : public Observer {
 public:
  /// @param walker_at which state a replica has; without it each has its own
  void set_walkers(std::function<std::int64_t(std::int64_t replica)> walker_at) {
    walker_at_ = std::move(walker_at);
  }
  std::string name() const override { return "evaporation"; }
  unsigned fields() const override { return kPositions; }
  std::int64_t every() const override;
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {}

  /// In the order in which they were noticed, those before a restart among them.
  const std::vector<Departure>& departures() const { return departures_; }

 private:
  std::vector<Departure> departures_;
  std::function<std::int64_t(std::int64_t)> walker_at_;
};

}  // namespace tarn
