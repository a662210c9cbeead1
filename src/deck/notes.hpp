#pragma once

#include <optional>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"

namespace tarn::decks {

/// The largest time step that was stable for clusters of 32 molecules at 298 K with this scheme
/// (measured), scaled for heavier hydrogens.
double largest_stable_timestep_fs(const Deck& deck);

/// Factor on time steps and intervals: librations of rigid molecules slow down with the square root
/// of the mass of the hydrogens, stretches with that of the reduced mass of O and H.
double heavy_hydrogen_factor(const Deck& deck);

/// Harmonic errors of the coldest ring polymers of a deck, equation (87).
struct BeadErrors {
  double temperature_K = 0.0;
  double wavenumber_per_cm = 0.0;  ///< the highest one
  double kinetic = 0.0;            ///< ReducedRing::kinetic_error() of one molecule
  int beads_for_1_percent = 0;     ///< 0: more than kMaxBeads
  int beads_for_1_per_mille = 0;   ///< the same
};
/// Empty without several beads. The model must be flexible.
/// @param wavenumber_per_cm highest one of a potential; default: that of the water model or, with a
///        potential, that for which the frequencies are fitted
std::optional<BeadErrors> bead_errors(const Deck& deck,
                                      std::optional<double> wavenumber_per_cm = {});
/// "30 beads", or that there are too many if 0.
std::string bead_count_text(int beads);

/// A wall that is too stiff for the time step: the period of a molecule in it, 2 pi sqrt(m / k), is
/// shorter than ten steps.
std::optional<Message> warning_of_stiff_wall(const Deck& deck);

/// Observers without a sample between the end of the equilibration and the end of the run.
std::optional<Message> warning_of_missing_samples(const Deck& deck);

/// A run after equilibration that is too short for a row of time correlation functions; empty if
/// there is no sample at all (see warning_of_missing_samples()).
std::optional<Message> warning_of_correlation(const Deck& deck);

/// A time step at or beyond the first resonance of the exact flow of the free ring polymer.
std::optional<Message> warning_of_resonance(const Deck& deck);

/// Messages about valid decks that may not do what the user expects.
Messages messages_on(const Deck& deck);

}  // namespace tarn::decks
