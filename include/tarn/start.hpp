#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Start structures and velocities. Random numbers are a function of (seed, replica, molecule): the
/// start of a replica does not depend on the batch.

namespace tarn {

/// Rigid molecules at random positions and orientations in a sphere of about three quarters of the
/// density of the liquid. Oxygens are at least 2.6 A apart, other atoms of different molecules 1.5
/// A. The sphere grows if it is too full. The centre of mass is at the origin.
/// @return 9 N coordinates [A]
/// @throws InputError if `molecules` is below 1
std::vector<double> random_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                   std::int64_t replica);

/// A random cluster, quenched by quench(). max_quench_iterations() limits the quench of large
/// clusters, which then does not reach the minimum.
/// @param result of the quench; may be null
/// @param should_continue see MinimiseOptions
std::vector<double> quenched_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                                     std::int64_t replica, MinimiseResult* result = nullptr,
                                     const std::function<bool()>& should_continue = {});

/// Removes the velocity components along rigid bonds, which kicks and noise leave in a state. They
/// move nothing in their own system. With another scheme, other masses or another model they would
/// be motion, and they would contribute to kinetic energies.
/// @param system the system that the state comes from
void project_onto_constraints(const System& system, State& state);

/// Largest number of iterations of a minimisation that prepares a run: at most 10 000, and about
/// 5e9 evaluated pairs of molecules (a minute on one core).
int max_quench_iterations(int molecules);

/// A minimum found by a search.
struct FoundMinimum {
  std::vector<double> positions_A;  ///< 9 N, centre of mass at the origin
  double energy_kcal_per_mol = 0.0;
  int starts_that_hit = 0;
};

/// Result of lowest_cluster().
struct LowestCluster {
  std::vector<double> positions_A;  ///< 9 N, centre of mass at the origin
  double energy_kcal_per_mol = 0.0;
  int start = 0;            ///< first start that found it
  int starts_that_hit = 0;  ///< number of starts that found it, to 1e-7 kcal/mol
  int starts_done = 0;      ///< fewer than requested if should_continue() ended the search
  /// The lowest distinct minima in ascending order, at most SearchOptions::keep. Minima whose
  /// energies differ by less than 1e-7 kcal/mol count as one; they may be mirror images.
  std::vector<FoundMinimum> minima{};
};

/// Called after each start, by one thread at a time.
/// @param lowest_kcal_per_mol lowest energy so far
using SearchProgress = std::function<void(int done, int starts, double lowest_kcal_per_mol)>;

/// Options of lowest_cluster().
struct SearchOptions {
  /// Number of independent searches. 0: default_starts(), or the number that gives the same total
  /// number of hops.
  int starts = 0;
  int hops = 0;  ///< hops between minima per start; 0: default_hops()
  /// Number of minima to return; more than one cost a few additional quenches per start.
  int keep = 1;
  int threads = 0;  ///< starts run in parallel; 0: all threads
  SearchProgress progress{};
  /// Called often, by any thread. If it returns false, the search ends with the lowest cluster so
  /// far, which may not be a minimum.
  std::function<bool()> should_continue{};
  /// All atoms move, and the model is used for the start structures and to choose trial moves. Up
  /// to 64 starts run at a time, with calls as those of minimise_clusters(); `threads` is not used.
  /// Null: the energies of the model.
  std::shared_ptr<Potential> potential{};
  std::string device = "cpu";  ///< as for minimise_clusters()
};

/// Default numbers of starts and hops of lowest_cluster(). Up to N = 8 they find the lowest known
/// minimum with any seed. Searches of larger clusters take ten seconds to a minute on one core and
/// may miss it.
int default_starts(int molecules);
int default_hops(int molecules);

/// The lowest minimum of independent basin-hopping searches (Wales & Doye 1997, equation (64)) that
/// start from random_cluster(model, molecules, seed, start). Moves displace all molecules, reinsert
/// weakly bound ones, or reverse chains of hydrogen bonds. The result is independent of the number
/// of threads.
/// @throws InputError if `molecules` is below 1, or `starts` or `hops` below 0; what the potential
///         throws, and NumericalError if it returns a number that is not finite
LowestCluster lowest_cluster(const WaterModel& model, int molecules, std::uint64_t seed,
                             const SearchOptions& options = {});

/// Puts the molecules of a structure file onto the rigid geometry of the model
/// (fit_rigid_geometry).
/// @param path of the structure, named in problems and messages
/// @param molecules number of molecules per replica; 0: the structure is a single replica
/// @return a note on a move larger than the rounding of the file
/// @throws InputError for problems found by io::bond_length_problems(), or a collinear molecule
std::optional<Message> make_rigid(const WaterModel& model, std::span<double> positions_A,
                                  const std::string& path, int molecules = 0);

/// Result of a projection onto the slow manifold: vibrational energy of all bonds of a cluster
/// (fast_bond_energy) before and after, and the number of iterations.
struct SlowManifoldStart {
  double fast_before_kcal_per_mol = 0.0;
  double fast_after_kcal_per_mol = 0.0;
  int iterations = 0;
};

/// The initial state of a run, and messages for its log.
struct Start {
  State state;
  Messages messages;
  /// With `project`: energies averaged over the replicas, and the largest number of iterations.
  std::optional<SlowManifoldStart> slow = {};
};

/// Called often, by one thread at a time, with the number of finished replicas. Return false to
/// stop.
using StartProgress = std::function<bool(int done, int replicas)>;

/// Thrown if StartProgress stops make_start().
class StartInterrupted : public Error {
 public:
  StartInterrupted()
      : Error(ExitCode::numerical, "interrupted while the start was made: no step was taken") {}
};

/// Structure and velocities of every replica of a deck, at step 0.
///
/// - Structure: that of `file`, the same for every replica; that of `state`; or a random cluster
/// per
///   replica, quenched by default.
/// - Rigid schemes and infinite omega: the molecules are put onto the geometry of the model.
/// - Penalty schemes with `relax`: the structure is minimised on V0 + V1.
/// - Velocities: those of `file` or `state`, or drawn from the Maxwell distribution; projected onto
///   the constraints for rigid schemes and with `tangent`.
/// - `remove_momentum`: the linear and angular momentum are set to zero.
/// - `project`: the bond vibrations are removed.
/// @throws InputError for structures that cannot be used, IoError for files that cannot be read,
/// NumericalError if the projection does not converge, StartInterrupted if `progress` returns false
Start make_start(const Deck& deck, const StartProgress& progress = {});

/// True if the starts of two decks are bitwise equal, because the decks differ only in keys that do
/// not affect a start. Starts from files and states also depend on the time step.
bool have_equal_starts(const Deck& first, const Deck& second);

}  // namespace tarn
