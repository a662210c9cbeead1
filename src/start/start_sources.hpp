#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/force_field.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "tarn/start.hpp"
#include "tarn/start_state.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Structures, states and velocities that a deck starts from, prepared for its scheme and model.

namespace tarn::start {

/// Whether the scheme needs molecules of the model's exact geometry.
bool keeps_bonds_rigid(const Deck& deck);

/// Prepares a structure file that every replica starts from.
/// @param on_constraints put the molecules onto the rigid geometry
/// @param relaxed minimise V0 + V1
/// @throws InputError if the molecules do not fit the water model
void prepare_file(const std::string& path, const System& system, bool on_constraints, bool relaxed,
                  const std::function<bool()>& should_continue, io::Structure& file,
                  Messages& messages);

/// The state that the deck names.
/// @throws InputError if this deck cannot start from it; see read_start_state()
StartState checked_state(const Deck& deck);

/// Converts a state to the scheme and model of the deck. A state of the same scheme, step and model
/// stays as it is, bit for bit.
/// @throws InputError if the molecules do not fit the water model
void prepare_state(const Deck& deck, const System& system, StartState& start, Messages& messages);

/// Velocities of a file without momentum, in a run that counts the six degrees of freedom.
std::optional<Message> warning_of_momentum(const Deck& deck, const std::string& path,
                                           const ClusterMasses& masses, const io::Structure& file);

/// The same for the velocities of another run's state.
std::optional<Message> warning_of_momentum(const Deck& deck, const StartState& start);

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

/// Draws velocities from the Maxwell distribution, sqrt(kT/m) xi.
/// @param positions_A 9 N numbers
/// @param tangent remove the components that change bond lengths: then J v = 0, and 6 N of the 9 N
/// degrees of freedom remain
/// @param velocities_A_per_akma 9 N numbers; written
void draw_velocities(const ClusterMasses& masses, std::span<const double> positions_A,
                     double temperature_K, bool tangent, std::uint64_t seed, std::int64_t replica,
                     std::span<double> velocities_A_per_akma);

/// Removes the velocity components that change bond lengths, as draw_velocities() does for
/// `tangent`.
void project_onto_constraints(const ClusterMasses& masses, std::span<const double> positions_A,
                              std::span<double> velocities_A_per_akma);

/// Subtracts the rigid-body motion of the cluster: the total linear and angular momentum become
/// zero, and J v does not change.
void remove_momentum(const ClusterMasses& masses, std::span<const double> positions_A,
                     std::span<double> velocities_A_per_akma);

/// Moves one penalised cluster onto the slow manifold, where its bonds do not vibrate.
///
/// Applies IPA (move_to_slow_point) with all forces. g and its rate become their means over a
/// window of three periods of the slowest vibration on each side, by the smallest mass-weighted
/// moves of the atoms. The momentum and the centre of mass of each molecule are conserved exactly,
/// the angular momentum to the order of the amplitude.
/// @param omega penalty strength, finite
/// @param positions_A, velocities_A_per_akma 9 N numbers; replaced
/// @throws NumericalError if it does not converge
SlowManifoldStart project_onto_slow_manifold(ForceField& force_field, const ClusterMasses& masses,
                                             double omega, std::span<double> positions_A,
                                             std::span<double> velocities_A_per_akma);

}  // namespace tarn::start
