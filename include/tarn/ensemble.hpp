#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/start.hpp"

/// @file
/// The replicas of a deck in a loop of the caller: start, engine and checkpoints, without an output
/// folder.

namespace tarn {

/// An engine with the deck that it runs. It ignores the length of the run and the observers of the
/// deck. May be used by one thread at a time.
class Ensemble {
 public:
  /// Makes the start of a deck (make_start) and an engine for it.
  /// @param progress see make_start()
  /// @throws InputError for [exchange], which only run_deck() performs;
  ///         as make_start() and make_engine()
  Ensemble(const Deck& deck, const DeviceRequest& device, const StartProgress& progress = {});
  /// Continues from a checkpoint of save(), or of a run of water, bit for bit on the same kind of
  /// device.
  /// @param path of the checkpoint, or of the folder of a run
  /// @throws InputError, IoError as read_start_state()
  static Ensemble load(const std::string& path, const DeviceRequest& device);
  ~Ensemble();
  Ensemble(Ensemble&&) noexcept;
  Ensemble& operator=(Ensemble&&) noexcept;

  /// The deck. After load() it has no observers, and its length is arbitrary.
  const Deck& deck() const;
  const System& system() const;
  /// Messages about the start.
  const Messages& messages() const;
  /// Number of replicas, including stopped ones.
  std::int64_t replicas() const;

  /// Advances all replicas. A replica that blows up is stopped, the others continue.
  /// @param should_continue called about four times per second; if it returns false, the function
  ///        returns at once, at an earlier step. May be empty
  /// @return whether all steps were done
  bool advance(std::int64_t steps, const std::function<bool()>& should_continue = {});
  std::int64_t step() const;
  double time_ps() const;
  /// @see Engine::snapshot()
  void snapshot(unsigned fields, Frame& frame);
  State state() const;

  /// Stopped replicas, including those of a run that load() continued.
  std::vector<BlowUp> blow_ups() const;
  /// Full message on a stopped replica: place, likely cause and remedy.
  std::string text(const BlowUp& blow_up) const;

  /// Writes a checkpoint, from which load() and decks (`[system] state`) continue. @throws IoError
  void save(const std::string& path) const;
  /// One line with the device.
  std::string device() const;

 private:
  struct Impl;
  explicit Ensemble(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarn
