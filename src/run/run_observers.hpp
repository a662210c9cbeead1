#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/archive.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"

namespace tarn {

/// Base of observers that write no files and need no frames: they only store state in checkpoints.
class CheckpointOnlyObserver : public ArchivedObserver {
 public:
  unsigned fields() const final { return kNoFields; }
  std::int64_t every() const final { return kLastStepOnly; }
  void observe(const Frame& /*frame*/) final {}
};

/// Counts the Hessians that were not positive definite, including those before a restart.
class IndefiniteHessianCounter final : public CheckpointOnlyObserver {
 public:
  explicit IndefiniteHessianCounter(const Engine& engine) : engine_(engine) {}

  std::string name() const override { return "indefinite Hessians"; }
  std::int64_t count() const { return before_ + engine_.report().indefinite_hessians; }

 private:
  void archive(io::Archive& a) override {
    std::int64_t all = count();
    a(all);
    if (a.is_reading()) before_ = all;
  }

  const Engine& engine_;
  std::int64_t before_ = 0;
};

/// Stores the messages about the start in checkpoints, because a resumed run does not prepare a
/// start.
class StartRecord final : public CheckpointOnlyObserver {
 public:
  Messages messages;
  std::optional<SlowManifoldStart> slow;

  std::string name() const override { return "start"; }

 private:
  void archive(io::Archive& a) override {
    a.list(messages, [&a](Message& message) { a(message.level, message.text); });
    bool is_projected = slow.has_value();
    a(is_projected);
    if (!is_projected) return slow.reset();
    if (a.is_reading()) slow.emplace();
    a(slow->fast_before_kcal_per_mol, slow->fast_after_kcal_per_mol, slow->iterations);
  }
};

/// Writes final.xyz at the end of a run: the scheme's own positions, and velocities without the
/// components that do not move atoms.
class FinalStructures final : public Observer {
 public:
  FinalStructures(const Deck& deck, const RunInfo& info, Engine& engine);

  std::string name() const override {
    return fmt::format("final structures of {} replicas", replicas_);
  }
  unsigned fields() const override { return kNoFields; }
  std::int64_t every() const override { return kLastStepOnly; }
  void observe(const Frame& /*frame*/) override {}
  void save(std::ostream& /*out*/) override {}
  /// Removes files from before the restart: their replicas may be stopped by now.
  void load(std::istream& in) override;
  void finish() override;

 private:
  std::string path_of(std::int64_t replica) const;

  std::string model_, isotopes_;
  double push_fs2_;
  RunInfo info_;
  Engine& engine_;
  std::int64_t replicas_;  ///< number of replicas written, from 0
};

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

/// A State split into live and stopped replicas.
struct LiveAndStopped {
  State live;
  State stopped;
};

/// Separates the replicas that an engine may continue from those that blew up.
LiveAndStopped split(State state, const std::vector<BlowUp>& blow_ups);

/// Inverse of split(), sorted by replica id; step and molecules are taken from `live`.
State join(State live, const State& stopped);

/// Wraps an engine: positions in Frames are relative to the centre of mass of each replica. The
/// state and all quantities computed from it are unchanged.
std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const ClusterMasses& masses);

}  // namespace tarn
