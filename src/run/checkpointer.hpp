#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "io/checkpoint.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Writes checkpoint.bin at a fixed interval. It is the last observer, because a checkpoint must
/// include the current step of all others. The first checkpoint is written at step 0; a run can
/// therefore always be resumed. observe() may be called at other steps too.
///
/// observe() takes the data of the step; a second thread completes the state and writes the file
/// while the engine computes later steps. At most one checkpoint is being written. An error of the
/// second thread is thrown by the next call of any of these functions but
/// age_seconds(). The engine must exist
/// longer than this object.
class Checkpointer final : public Observer {
 public:
  /// @param every steps between checkpoints; 0: only step 0 and write()
  /// @param before constant part of all checkpoints: version, physics, device, and the replicas
  ///        stopped before the engine was created (state and blow_ups)
  /// @param on_written called with the step of each complete checkpoint, by observe(), poll() or
  ///        write(); may be empty
  Checkpointer(std::string path, std::int64_t every, const Engine& engine,
               const std::vector<std::unique_ptr<Observer>>& observers, io::Checkpoint before,
               std::function<void(std::int64_t)> on_written);

  std::string name() const override { return "checkpoint"; }
  unsigned fields() const override;
  std::int64_t every() const override { return every_ == 0 ? kLastStepOnly : every_; }
  bool reads_observers() const override { return true; }
  void observe(const Frame& frame) override;
  void save(std::ostream&) override {}
  void load(std::istream&) override {}

  /// Time since the last checkpoint, or since construction; 0 while one is written.
  double age_seconds() const;
  /// Reports a checkpoint that has been written. @throws IoError if it could not be written
  void poll();
  /// Waits for the checkpoint that is being written, if there is one, and reports it. @throws
  /// IoError
  void finish_writing();
  /// Writes a checkpoint now and waits for it; the observers must have caught up. @throws IoError
  void write();

 private:
  void start_writing();

  std::string path_;
  std::int64_t every_;
  const Engine& engine_;
  std::vector<Observer*> observers_;
  io::Checkpoint before_;
  std::function<void(std::int64_t)> on_written_;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
  std::int64_t step_ = 0;      ///< of the checkpoint that is being written
  std::future<void> writing_;  ///< valid while one is written; its destructor waits
};

/// @param path path of the checkpoint, for messages
/// @throws InputError when the checkpoint has no record of one of the observers
void refuse_new_observers(const std::string& path, const io::Checkpoint& checkpoint,
                          const std::vector<std::unique_ptr<Observer>>& observers);
/// The same check. @throws InputError also when the checkpoint has a record of a missing observer
void refuse_other_observers(const std::string& path, const io::Checkpoint& checkpoint,
                            const std::vector<std::unique_ptr<Observer>>& observers);

/// Restores each observer from its record, which must exist.
void restore(const io::Checkpoint& checkpoint,
             const std::vector<std::unique_ptr<Observer>>& observers);

/// Reads the checkpoint and checks that this run can continue from it.
/// @throws IoError (see io::read_checkpoint); InputError when the deck's physics or files differ,
///         when it requests fewer steps than are done, or when another version wrote it
io::Checkpoint checkpoint_for(const std::string& path, const std::string& physics,
                              std::int64_t steps);

}  // namespace tarn
