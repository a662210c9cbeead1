#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"

/// @file
/// Limits that depend on the number of molecules. Rules check them if the number is known when the
/// deck is read, and make_system() checks them for every start. Each function returns the message
/// of a problem, or nothing.

namespace tarn::decks {

/// The first of the problems below and of the limits of the rules, with its section; nothing if
/// there is none.
std::optional<std::string> system_problem(const Deck& deck, std::int64_t molecules);

/// Number of baths of different temperatures; 1 without a thermostat.
std::size_t distinct_baths(const Deck& deck);

/// Too many molecules for hessian = "total".
std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules);

/// remove_momentum for a single molecule without a thermostat.
std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules);

/// Too many molecules in all replicas.
std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas,
                                        std::int64_t beads);

/// Number of values that the time correlation functions store; 0 without them.
double correlation_numbers(const Deck& deck, std::int64_t molecules);

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

namespace tarn {

/// Number of beads of each replica; 1: classical.
int beads_of(const Deck& deck);

/// The bias of a section.
BiasSpec bias_spec(const BiasSection& bias);

/// The section in the units of engines.
PathIntegralSpec ring_spec(const PathIntegralSection& rings);

/// Temperatures of the springs of ring polymers; empty without [path_integral].
std::vector<double> ring_temperatures_K(const Deck& deck);

/// The deck with a number of beads, a flow of the free ring ("cayley", "exact") or a kind of
/// frequencies ("economised", "trotter"), as given to `--beads`, `--free-ring` and `--frequencies`.
/// @throws InputError that names the option
Deck with_beads(const Deck& deck, int beads);
Deck with_free_ring(const Deck& deck, const std::string& free_ring);
Deck with_frequencies(const Deck& deck, const std::string& frequencies);

}  // namespace tarn
