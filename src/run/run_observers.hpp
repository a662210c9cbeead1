#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "io/archive.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/start.hpp"

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
  void archive(io::Archive& a) override;
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

  std::string model_;
  double push_fs2_;
  RunInfo info_;
  Engine& engine_;
  std::int64_t replicas_;  ///< number of replicas written, from 0
};

/// Creates the observers and skips makers that return null. @throws InputError for an empty maker
std::vector<std::unique_ptr<Observer>> custom_observers(const std::vector<ObserverMaker>& makers,
                                                        const RunInfo& run);

/// The files they write.
/// @throws InputError for an invalid file name, a file that the run itself writes, or a file that
///         two observers write
std::vector<std::string> files_of(const std::vector<std::unique_ptr<Observer>>& own);

/// @throws InputError for two observers with the same name, which a checkpoint cannot distinguish
void refuse_equal_names(const std::vector<std::unique_ptr<Observer>>& observers);

}  // namespace tarn
