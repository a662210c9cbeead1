#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Start structures and velocities. Whatever is random follows from (seed, replica, molecule), so
/// that a replica alone is the same as in any batch.

namespace tarn {

/// Rigid molecules with random orientations in a sphere of about three quarters of the density of
/// the liquid, no two oxygens nearer than 2.6 A and no other atoms of two molecules nearer than
/// 1.5 A. The sphere grows where it is too full. The centre of mass is at the origin.
/// @return 9 N coordinates [A]
/// @throws InputError if `molecules` is below 1
std::vector<double> random_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                   std::int64_t replica);

/// A random cluster, quenched (quench_rigid). Every pair counts in every iteration: large clusters
/// are not followed to the minimum, only as far as max_quench_iterations() goes.
/// @param result how far it came; may be null
/// @param should_continue see MinimiseOptions
std::vector<double> quenched_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                     std::int64_t replica, MinimiseResult* result = nullptr,
                                     const std::function<bool()>& should_continue = {});

/// Takes out of the velocities of a state of rigid molecules what they have along the bonds, from
/// kicks and noise. It moves nothing in that system; to another scheme, other masses or another
/// model it would be motion, and to kinetic energies heat.
/// @param system the one that the state comes from
void project_onto_constraints(const System& system, State& state);

/// Most iterations of a minimisation that only prepares a run: about 5e9 pairs of molecules (about
/// a minute on one core), and at most 10 000.
int max_quench_iterations(int molecules);

/// A minimum of a search.
struct FoundMinimum {
  std::vector<double> positions_A;  ///< 9 N, centre of mass at the origin
  double energy_kcal_per_mol = 0.0;
  int starts_that_hit = 0;
};

/// What lowest_cluster() found.
struct LowestCluster {
  std::vector<double> positions_A;  ///< 9 N, centre of mass at the origin
  double energy_kcal_per_mol = 0.0;
  int start = 0;            ///< the first start that found it
  int starts_that_hit = 0;  ///< how many starts found it, to 1e-7 kcal/mol
  int starts_done = 0;      ///< fewer than were asked for where should_continue() ended the search
  /// The lowest distinct minima that the starts met, from the lowest on: as many as were asked for,
  /// or fewer. Energies nearer than 1e-7 kcal/mol are one minimum, or mirror images.
  std::vector<FoundMinimum> minima{};
};

/// Called after each start, by one thread at a time.
/// @param lowest_kcal_per_mol of the starts so far
using SearchProgress = std::function<void(int done, int starts, double lowest_kcal_per_mol)>;

/// How lowest_cluster() searches.
struct SearchOptions {
  /// Independent searches; 0: default_starts(), or as many as make as many hops in all.
  int starts = 0;
  int hops = 0;  ///< of each, from minimum to minimum; 0: default_hops()
  /// Of how many minima the structures are kept; those of more than one cost a few quenches a
  /// start.
  int keep = 1;
  int threads = 0;  ///< over the starts; 0: all
  SearchProgress progress{};
  /// Asked often, by any thread; false ends the search with the lowest cluster so far, which need
  /// not be a minimum.
  std::function<bool()> should_continue{};
};

/// Starts and hops that lowest_cluster() takes by default: enough that N <= 8 finds the lowest
/// minimum known with any seed; larger clusters are searched for some ten seconds to a minute of
/// one core, with no such promise.
int default_starts(int molecules);
int default_hops(int molecules);

/// The lowest minimum of independent searches: basin hopping (Wales & Doye 1997, equation (64))
/// from random_cluster(model, molecules, seed, start), by moves of all molecules, of those that are
/// held most weakly, and of chains of hydrogen bonds. The result does not depend on the threads.
/// @throws InputError if `molecules` is below 1, or `starts` or `hops` below 0
LowestCluster lowest_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                             const SearchOptions& options = {});

/// Puts the molecules of a structure file onto the rigid geometry of the model
/// (fit_rigid_geometry).
/// @param path of the structure, named in problems and remarks
/// @param molecules of a replica, where there may be several; 0: of one only
/// @return remarks: a move that is more than the file's rounding
/// @throws InputError for what io::bond_length_problems() finds, or a collinear molecule
std::vector<std::string> make_rigid(const WaterModel& model, std::span<double> positions_A,
                                    const std::string& path, int molecules = 0);

/// A projection onto the slow manifold: energy of the vibration of all bonds of a cluster before
/// and after (fast_bond_energy), and its iterations.
struct SlowManifoldStart {
  double fast_before_kcal_per_mol = 0.0;
  double fast_after_kcal_per_mol = 0.0;
  int iterations = 0;
};

/// The state that a run begins with, and remarks for its log.
struct Start {
  State state;
  std::vector<std::string> notes;
  /// Where the deck asks for a projection: mean energies of the replicas, most iterations of any.
  std::optional<SlowManifoldStart> slow = {};
};

/// Told often, by one thread at a time, how many replicas have their start; false ends it.
using StartProgress = std::function<bool(int done, int replicas)>;

/// There is no start: whoever watched it did not want it to go on.
class StartInterrupted : public Error {
 public:
  StartInterrupted()
      : Error(ExitCode::numerical, "interrupted while the start was made: no step was taken") {}
};

/// Structure and velocities of every replica of a deck, at step 0.
///
/// The structure is that of the deck's file, the same for every replica, that of the state of
/// another run, or a cluster of its own for each: random, or quenched as well. Rigid schemes and
/// infinite omega get molecules on the model's geometry; penalty schemes with `relax` start at a
/// minimum of V0 + V1. Velocities are those of the file or the state, or drawn from Maxwell's
/// distribution, projected onto the constraints for rigid schemes or where the deck says so; with
/// remove_momentum the cluster as a whole neither moves nor turns. With `project` the bonds do not
/// vibrate.
/// @throws InputError for structures that cannot be used, IoError for files that cannot be read,
/// NumericalError where the projection does not settle, StartInterrupted where should_continue()
/// ends it
Start make_start(const Deck& deck, const StartProgress& should_continue = {});

/// Whether the starts of two decks are surely the same, to the last bit: they differ in keys that a
/// start does not depend on. Starts from files and states depend on the step, too.
bool have_equal_starts(const Deck& first, const Deck& second);

}  // namespace tarn
