#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tarn/io/checkpoint.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// Writes checkpoint.bin every so many steps. It is an observer that stands after all others, so
/// that what it saves of them includes the step that it is called at; step 0 is one of them, so
/// that a run can be resumed from its first second on. It may be called at other steps too.
class Checkpointer final : public Observer {
 public:
  /// @param every steps between checkpoints; 0: only step 0 and write()
  /// @param before what does not change while the engine lives: versions, physics, device, the
  ///        replicas stopped before it was made (state and blow_ups)
  /// @param on_written called with the step of each checkpoint once it is complete; may be empty
  Checkpointer(std::string path, std::int64_t every, const Engine& engine,
               const std::vector<std::unique_ptr<Observer>>& observers, io::Checkpoint before,
               std::function<void(std::int64_t)> on_written);

  std::string name() const override { return "checkpoint"; }
  unsigned fields() const override;
  std::int64_t every() const override { return every_ == 0 ? kLastStepOnly : every_; }
  void begin() override {}
  void observe(const Frame& frame) override;
  void save(std::ostream&) override {}
  void load(std::istream&) override {}
  void finish() override {}

  /// Since the last one was written, or since this was made.
  double age_seconds() const;
  /// Writes one now; the observers must have caught up. @throws IoError
  void write();

 private:
  std::string path_;
  std::int64_t every_;
  const Engine& engine_;
  std::vector<Observer*> observers_;
  io::Checkpoint before_;
  std::function<void(std::int64_t)> on_written_;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
};

/// @param path of the checkpoint, named in messages
/// @throws InputError when the checkpoint has no record of one of the observers
void refuse_new_observers(const std::string& path, const io::Checkpoint& checkpoint,
                          const std::vector<std::unique_ptr<Observer>>& observers);
/// @throws InputError also when it has a record of an observer that is not there
void refuse_other_observers(const std::string& path, const io::Checkpoint& checkpoint,
                            const std::vector<std::unique_ptr<Observer>>& observers);

/// Gives each observer what it saved; the checkpoint must have a record of each.
void restore(const io::Checkpoint& checkpoint,
             const std::vector<std::unique_ptr<Observer>>& observers);

/// Reads the checkpoint and refuses one that this run cannot go on from.
/// @throws IoError (see io::read_checkpoint); InputError when the deck's physics or files differ,
///         when it asks for fewer steps than are done, or when another version wrote it
io::Checkpoint checkpoint_for(const std::string& path, const std::string& physics,
                              std::int64_t steps);

}  // namespace tarn
