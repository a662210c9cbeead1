#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tarn/observer.hpp"

namespace tarn {

/// An evaporated molecule.
struct Departure {
  std::int64_t replica = 0;  ///< replica id
  std::int64_t step = 0;     ///< step at which it was detected
  int molecule = 0;          ///< counts from 0
  /// Walker in this replica; with replica exchange it moves between replicas.
  std::int64_t walker = 0;
};

/// Message: replica, molecule, step and remedy.
std::string describe(const Departure& departure);

/// One message for several departures: the first in full, then the replicas of up to 20 others.
/// @param departures at least one
std::string describe(const std::vector<Departure>& departures);

/// Checks regularly whether the clusters are whole and records the first departure of each replica
/// or, with exchange, of each walker. Writes no file.
class EvaporationWatch final : public Observer {
 public:
  /// @param walker_at walker in a replica; without it, walkers and replicas coincide
  void set_walkers(std::function<std::int64_t(std::int64_t replica)> walker_at) {
    walker_at_ = std::move(walker_at);
  }
  std::string name() const override { return "evaporation"; }
  unsigned fields() const override { return kParts; }
  std::int64_t every() const override;
  bool may_lag() const override { return !walker_at_; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream& out) override;
  void load(std::istream& in) override;
  void finish() override {}

  /// In order of detection, including those before a restart.
  const std::vector<Departure>& departures() const { return departures_; }

 private:
  std::vector<Departure> departures_;
  std::function<std::int64_t(std::int64_t)> walker_at_;
};

}  // namespace tarn
