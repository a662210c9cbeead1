#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/archive.hpp"

/// @file
/// Events that change what a run simulates: molecules that evaporate, and bonds that break.

namespace tarn {

/// The first event of a replica or walker.
struct MoleculeEvent {
  std::int64_t replica = 0;  ///< replica id
  std::int64_t step = 0;     ///< step at which it was detected
  int molecule = 0;
  /// Walker in this replica; with replica exchange it moves between replicas.
  std::int64_t walker = 0;
  double length_A = 0.0;  ///< of a broken bond
};
using MoleculeEvents = std::vector<MoleculeEvent>;

/// Checks the replicas regularly and records the first event of each replica or, with exchange, of
/// each walker. Writes no file.
class FirstEventWatch : public ArchivedObserver {
 public:
  /// @param walker_at walker in a replica; without it, walkers and replicas coincide
  void set_walkers(std::function<std::int64_t(std::int64_t replica)> walker_at) {
    walker_at_ = std::move(walker_at);
  }
  /// Measured cost: 0.3 % of a run of 64 seven-molecule clusters.
  std::int64_t every() const final { return 1000; }
  void observe(const Frame& frame) final;

  /// In order of detection, including those before a restart.
  const MoleculeEvents& events() const { return events_; }

  /// Message: replica, molecule, step and remedy.
  virtual std::string describe(const MoleculeEvent& event) const = 0;
  /// One message for all events: the first in full, then the replicas of up to 20 others; nothing
  /// without events.
  std::optional<Message> warning() const;
  /// "further replicas with evaporated molecules are listed only in run.json"
  virtual std::string describe_others() const = 0;

 protected:
  struct Found {
    int molecule = 0;
    double length_A = 0.0;
  };
  /// The event of a replica, if there is one. @param r its place in the frame
  virtual std::optional<Found> find(const Frame& frame, std::size_t r) const = 0;
  bool has_walkers() const { return walker_at_ != nullptr; }

 private:
  void archive(io::Archive& a) final {
    a.list(events_,
           [&a](MoleculeEvent& e) { a(e.replica, e.step, e.molecule, e.walker, e.length_A); });
  }

  MoleculeEvents events_;
  std::function<std::int64_t(std::int64_t)> walker_at_;
};

/// Whether the clusters are whole.
class EvaporationWatch final : public FirstEventWatch {
 public:
  std::string name() const override { return "evaporation"; }
  unsigned fields() const override { return kParts; }
  bool may_lag() const override { return !has_walkers(); }
  std::string describe(const MoleculeEvent& event) const override;
  std::string describe_others() const override {
    return "further replicas with evaporated molecules are listed only in run.json";
  }

 private:
  std::optional<Found> find(const Frame& frame, std::size_t r) const override;
};

/// Whether the O-H bonds of flexible molecules are whole; for ring polymers those of the centroids.
class DissociationWatch final : public FirstEventWatch {
 public:
  /// @param engine whose frames it observes at once; positions are needed only for a broken bond
  explicit DissociationWatch(Engine& engine) : engine_(engine) {}

  std::string name() const override { return "dissociation"; }
  unsigned fields() const override { return kGeometry; }
  std::string describe(const MoleculeEvent& event) const override;
  std::string describe_others() const override {
    return "further replicas with broken bonds are listed only in run.json";
  }

 private:
  std::optional<Found> find(const Frame& frame, std::size_t r) const override;
  Engine& engine_;
};

}  // namespace tarn
