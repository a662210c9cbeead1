#pragma once

#include "tarn/deck.hpp"

namespace tarn::decks {

/// Number of whole steps that cover a time; a whole number within round-off counts as whole.
double whole_steps(double time_ps, double timestep_fs);

/// The default of `[integrator] scheme`: SETTLE for rigid models, velocity Verlet for flexible
/// ones.
Scheme default_scheme(const Deck& deck);

/// Default time step of velocity Verlet with a flexible model [fs].
inline constexpr double kFlexibleVerletStep_fs = 0.5;

/// Whether molecules are flexible in the dynamics: with a flexible model, and with `verlet` and a
/// potential other than the model.
bool moves_bonds(const Deck& deck);

/// The default of `[thermostat] kind` in a deck with that section.
inline constexpr Thermostat kDefaultThermostat = Thermostat::baoab;

/// The default of `[system] relax`: true for finite penalties, with which a rigid start is not in
/// equilibrium, unless positions and velocities are given together or another potential is used.
bool default_relax(const Deck& deck);

/// The water model with the masses of the dynamics, also those of keep_molecule_mass.
WaterModel model_of_dynamics(const Deck& deck);

/// The default of `[system] recentre`: true with a trajectory in a format that loses digits, or
/// refuses positions, far from the origin.
bool default_recentre(const Deck& deck);

/// The default of `[path_integral] highest_wavenumber_per_cm`: 3 % above the highest wavenumber of
/// a molecule, rounded up to a whole number. The model must be flexible.
double default_highest_wavenumber_per_cm(const Deck& deck);
/// The ratio of the two.
inline constexpr double kWavenumberMargin = 1.03;

/// Whether a [[bias]] has several centres.
bool has_windows(const Deck& deck);

}  // namespace tarn::decks
