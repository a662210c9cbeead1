#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/state.hpp"

/// @file
/// Starting a run from the state of another one.

namespace tarn {

/// The state that another run left.
struct StartState {
  std::string path;  ///< path of the checkpoint
  Deck deck;         ///< deck of that run, without length and observers
  State state;
  std::vector<BlowUp> blow_ups;  ///< replicas that were stopped
};

/// Reads the state that the deck names.
/// @throws IoError (see io::read_checkpoint); InputError if there is no such run, or it is not a
/// run of water
StartState read_start_state(const Deck& deck);

/// A problem with a key of the deck.
struct KeyProblem {
  std::string_view key;  ///< "system.replicas"
  std::string message;
};

/// The problems that prevent a start from this state, except the number of molecules.
std::vector<KeyProblem> start_state_problems(const Deck& deck, const StartState& start);

/// The message for `velocities = "file"` and a structure file without velocities.
std::string missing_velocities_message(const std::string& path);

}  // namespace tarn
