#pragma once

#include <optional>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/start_state.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Messages about a start that is valid but may not be what the user meant. Each function returns
/// nothing where there is nothing to say.

namespace tarn::start {

/// Velocities of a file without momentum, in a run that counts the six degrees of freedom.
std::optional<Message> warning_of_momentum(const Deck& deck, const std::string& path,
                                           const WaterModel& model, const io::Structure& file);

/// The same for the velocities of another run's state.
std::optional<Message> warning_of_momentum(const Deck& deck, const StartState& start);

/// Ring polymers that start from a run with other beads, temperatures or masses, and are averaged
/// before they reach equilibrium.
std::optional<Message> warning_of_rings(const Deck& deck, const StartState& start);

/// A state of a run with another water model.
std::optional<Message> note_on_model(const Deck& deck, const StartState& start);

/// Velocities of a run with other masses.
std::optional<Message> note_on_masses(const Deck& deck, const StartState& start);

/// All messages about a state, before it is changed.
Messages messages_on_state(const Deck& deck, const StartState& start);

/// Positions x of a file whose push-forward is not that of this deck: it changes the amplitude of
/// the bond vibrations.
std::optional<Message> warning_of_push(const Deck& deck, const std::string& path,
                                       const io::Structure& file);

/// Replicas that stay identical.
/// @param shared_starts whether several replicas start from the same structure
std::optional<Message> warning_of_copies(const Deck& deck, bool shared_starts);

/// Molecules that start far outside the wall: a note if few do, before the averages begin.
std::optional<Message> message_on_wall(const Deck& deck, const System& system, const State& state);

}  // namespace tarn::start
