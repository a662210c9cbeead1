#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"

namespace tarn::decks {

/// The largest time step that held clusters of 32 molecules at 298 K with this scheme, measured;
/// heavier hydrogens let it be longer.
double largest_stable_timestep_fs(const Deck& deck);

/// What is wrong with a wall in which a molecule would swing, with the frequency sqrt(k / m), once
/// in fewer than ten steps; nothing for others.
std::optional<std::string> note_on_stiff_wall(const Deck& deck);

/// Which observers have no step between the end of the equilibration and that of the run, and so no
/// sample that counts; nothing where all have one.
std::optional<std::string> note_on_samples(const Deck& deck);

/// That the run after equilibration is too short for a row of time correlation functions; nothing
/// where there are none, or no sample at all.
std::optional<std::string> note_on_correlation(const Deck& deck);

/// That evaporation is waited for from a start that the bath has not brought to its temperature;
/// nothing where it has, or there is none.
std::optional<std::string> note_on_evaporation(const Deck& deck);

/// What a deck asks for and does not get, without being wrong: observers of more replicas than
/// there are, a wall that its step cannot follow.
std::vector<std::string> notes_on(const Deck& deck);

}  // namespace tarn::decks
