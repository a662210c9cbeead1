#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/state.hpp"

/// @file
/// The state of another run, that a deck starts from.

namespace tarn {

/// What the other run left.
struct StartState {
  std::string path;  ///< of its checkpoint
  Deck deck;         ///< of that run, without its length and its observers
  State state;
  std::vector<BlowUp> blow_ups;  ///< replicas that were stopped there
};

/// Reads what the deck's `state` names.
/// @throws IoError (see io::read_checkpoint); InputError where there is no such run, or none of
///         water
StartState read_start_state(const Deck& deck);

/// A problem with a key of the deck.
struct KeyProblem {
  std::string_view key;  ///< "system.replicas"
  std::string message;
};

/// What keeps the deck from starting there, but for the number of molecules.
std::vector<KeyProblem> start_state_problems(const Deck& deck, const StartState& start);

/// What is wrong with `velocities = "file"` and a structure file without velocities.
std::string missing_velocities_message(const std::string& path);

}  // namespace tarn
